import { otherClock } from '../../../cli/test/clock.ts'
import { newMachine } from '../../../cli/test/machine.ts'
import type { Act } from '../attack.ts'
import { fillMachine, honestValues, names, type Open, tokenOf } from './client.ts'
import { outcomeOf } from './outcome.ts'

/** The arguments that select the environment of an act. */
export const placeOf = (act: Act): string[] => (act === 'branch' ? ['--branch', 'pr-1'] : [])

/** Prints the values that the attacks change, and `-` for one that is not set. */
const printing = `printf %s,%s,%s ${names.map((name) => `"\${${name}:--}"`).join(' ')}`

/** Runs a program on a fresh machine that has only a token. Each command is a process of its own. */
export const commandLine: Open = async (stage, attack, situation) => {
  const machine = await newMachine(stage.liar.url, { cold: true })
  machine.env.SKERRY_TOKEN = await tokenOf(stage, attack, situation)
  const run = () => machine.skerry(['run', ...placeOf(attack.act), '--', 'sh', '-c', printing])
  if (situation.memory) await fillMachine(machine, { stage, attack, situation, kind: 'run' }, run)
  if (attack.clockDays !== undefined) machine.env.NODE_OPTIONS = otherClock(attack.clockDays)
  return {
    act: async () => {
      const { code, stdout, stderr } = await run()
      return outcomeOf({ failed: code !== 0, values: stdout, told: stderr }, honestValues(attack.act))
    },
    close: machine.remove,
  }
}
