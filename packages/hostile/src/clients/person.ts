import { randomBytes } from 'node:crypto'
import { newPersonMachine, passphrase } from '../../../cli/test/people.ts'
import type { Act } from '../attack.ts'
import { aliceEmail, bobEmail, honestValue, type Stage } from '../stage.ts'
import { fillMachine, type Open } from './client.ts'
import { firstLine, reasonOf } from './outcome.ts'

type PersonAct = Exclude<Act, 'run' | 'branch' | 'store'>

/** The commands of a person. Attacks on programs use other environments than these. */
const commands: Readonly<Record<PersonAct, (stage: Stage) => string>> = {
  rekey: () => 'skerry env rekey production --yes --reader recovery',
  grant: () => `skerry grant ${bobEmail} --app shop --env production`,
  write: () => 'echo -n stored | skerry secrets set C --env staging',
  unlock: () => 'skerry secrets get A --env development',
  encrypt: () => 'echo -n encrypted | skerry kms encrypt billing --json',
  pin: ({ mailed }) => `skerry trust pin ${mailed.pin}`,
  // A branch has no entry, so the head of the directory stays as other attacks know it.
  fork: () => `skerry branch create forked-${randomBytes(4).toString('hex')} --env production`,
  replace: () => 'skerry env rekey production --yes',
  cover: () => 'skerry recovery cover --reader recovery',
}

/** Commands by which a machine gets its memory. */
const looks: Partial<Record<PersonAct, string>> = {
  write: 'echo -n seen | skerry secrets set C --env staging && skerry secrets ls --env spare',
  encrypt: 'echo -n seen | skerry kms encrypt billing',
  unlock: 'skerry secrets get A --env development',
}
const usualLook = 'skerry env readers production'

/** Alice’s new machine, with the project file as it is in the repository, or without the pin in it. */
export const person: Open = async (stage, attack, situation) => {
  const { memory, pin } = situation
  const act = attack.act as PersonAct
  const machine = await newPersonMachine(stage.honest, aliceEmail, stage.liar.url, { cold: true })
  await machine.write('../passphrase', `${passphrase}\n`)
  machine.env.SKERRY_PASSPHRASE_FILE = `${machine.home}/passphrase`
  const { pin: written, ...project } = { ...JSON.parse(stage.projectFile), url: stage.liar.url }
  await machine.write('skerry.json', JSON.stringify(pin ? { ...project, pin: written } : project))
  const look = () => machine.ok(looks[act] ?? usualLook)
  if (memory) await fillMachine(machine, { stage, attack, situation, kind: 'person' }, look)
  return {
    act: async () => {
      const { code, stdout, stderr } = await machine.shell(commands[act](stage))
      const line = firstLine(stderr)
      if (code !== 0) return { seen: 'refused', line: reasonOf(stderr) }
      if (act === 'unlock' && stdout.trim() === honestValue) return { seen: 'unharmed', line }
      return { seen: stderr.includes('warning: ') ? 'warned' : 'accepted', line }
    },
    close: machine.remove,
  }
}
