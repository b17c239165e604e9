"""MuJoCo's RK4 on the double pendulum, described in its own format. Setting: rk4:STEPS.

A body needs a moment of inertia: 1e-12 of the one that the mass has about its pivot, which changes nothing that can be seen.
"""

import mujoco
import numpy as np
from mujoco import rollout

import conversation
import motion

LENGTH = motion.GRAVITY / motion.W2
TINY = 1e-12 * LENGTH**2
MODEL = f"""
<mujoco>
  <compiler angle="radian" inertiafromgeom="false" boundmass="0" boundinertia="0"/>
  <option integrator="RK4" timestep="{{step!r}}" gravity="0 0 {-motion.GRAVITY!r}">
    <flag energy="{{energy}}" contact="disable" constraint="disable"/>
  </option>
  <worldbody>
    <body>
      <joint type="hinge" axis="0 -1 0"/>
      <inertial pos="0 0 {-LENGTH!r}" mass="1" diaginertia="{TINY!r} {TINY!r} {TINY!r}"/>
      <body pos="0 0 {-LENGTH!r}">
        <joint type="hinge" axis="0 -1 0"/>
        <inertial pos="0 0 {-LENGTH!r}" mass="1" diaginertia="{TINY!r} {TINY!r} {TINY!r}"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


class Run:
    def __init__(self, until, steps):
        self.steps = steps
        self.model = self.made(until, "disable")
        self.measured = self.made(until, "enable")
        self.data = mujoco.MjData(self.model)
        # the second angle is relative to the first
        self.angles = np.array([np.pi / 4, np.pi / 3 - np.pi / 4])

    def made(self, until, energy):
        return mujoco.MjModel.from_xml_string(MODEL.format(step=until / self.steps, energy=energy))

    def reset(self):
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = self.angles
        kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
        self.start = np.empty(mujoco.mj_stateSize(self.model, kind))
        mujoco.mj_getState(self.model, self.data, self.start, kind)

    def run(self):
        # the loop over steps in compiled code
        rollout.rollout(self.model, self.data, self.start[None, None, :][0], nstep=self.steps)

    def error(self):
        data = mujoco.MjData(self.measured)
        data.qpos[:] = self.angles
        energies = []
        for _ in range(self.steps):
            mujoco.mj_step(self.measured, data)
            # of the state before the step
            energies.append(data.energy.sum())
        return motion.largest_error(np.array(energies))


class Mujoco:
    def ready(self, system, until, setting):
        method, steps = setting.split(":")
        if (system, method) != ("double-pendulum", "rk4"):
            raise ValueError("only RK4 and the double pendulum are described for MuJoCo")
        return Run(until, int(steps))


if __name__ == "__main__":
    conversation.answer(Mujoco())
