import { availableParallelism } from 'node:os'
import { openLiar } from '../../cli/test/hostile/liar.ts'
import { type Act, type Attack, type Situation, type SituationName, situations } from './attack.ts'
import { branches } from './attacks/branches.ts'
import { directories } from './attacks/directories.ts'
import { environments } from './attacks/environments.ts'
import { people } from './attacks/people.ts'
import { signers } from './attacks/signers.ts'
import { values } from './attacks/values.ts'
import { writes } from './attacks/writes.ts'
import type { Open } from './clients/client.ts'
import { commandLine } from './clients/command-line.ts'
import { person } from './clients/person.ts'
import { proxy } from './clients/proxy.ts'
import { sdk } from './clients/sdk.ts'
import { sdkWriter } from './clients/sdk-writer.ts'
import type { Stage } from './stage.ts'
import type { AttackGroup, Cell } from './table.ts'

export const groups: readonly AttackGroup[] = [
  { title: 'Environments and groups, for a program', attacks: environments },
  { title: 'Values, for a program', attacks: values },
  { title: 'Writes, for a program', attacks: writes },
  { title: 'The signed directory, for a program', attacks: directories },
  { title: 'Signers who left, for a program', attacks: signers },
  { title: 'Branches, for a program', attacks: branches },
  { title: 'Keys, readers and pins, for a person', attacks: people },
]

/** Every attack, in the order of the tables. */
export const attacks: readonly Attack[] = groups.flatMap((group) => group.attacks)

const isOfProgram = (act: Act) => act === 'run' || act === 'branch'

/** The clients, each with the acts that it performs. */
const clients: readonly { name: string; open: Open; acts: (act: Act) => boolean }[] = [
  { name: 'command line', open: commandLine, acts: isOfProgram },
  { name: 'SDK', open: sdk, acts: isOfProgram },
  { name: 'proxy', open: proxy, acts: isOfProgram },
  { name: 'SDK', open: sdkWriter, acts: (act) => act === 'store' },
  { name: 'command line', open: person, acts: (act) => !isOfProgram(act) && act !== 'store' },
]

/** Each client has two processors, with its program and the server. */
const lanesOfClient = Math.max(1, Math.floor(availableParallelism() / 2))

/**
 * Plays attacks against every client in every situation. Several attacks are played at the same time, each against its own
 * hostile server, which is honest again after each attack.
 *
 * @returns the cells in the order of the attacks and clients.
 */
export async function play(stage: Stage, chosen: readonly Attack[], told: (cell: Cell) => void): Promise<Cell[]> {
  const lanes = clients.flatMap(({ acts, ...client }) => {
    const own = chosen.filter(({ act }) => acts(act))
    const parts = Array.from({ length: lanesOfClient }, (_, lane) => own.filter((_, at) => at % lanesOfClient === lane))
    return parts.map((part) => playPart(stage, client, part, told))
  })
  const cells = (await Promise.all(lanes)).flat()
  return chosen.flatMap((attack) => cells.filter((cell) => cell.attack === attack))
}

async function playPart(
  stage: Stage,
  { name, open }: { name: string; open: Open },
  part: readonly Attack[],
  told: (cell: Cell) => void,
): Promise<Cell[]> {
  const liar = await openLiar(stage.honest.url)
  const own = { ...stage, liar, mailed: { pin: '' } }
  const cells: Cell[] = []
  for (const attack of part)
    for (const [situation, has] of Object.entries(situations) as [SituationName, Situation][]) {
      const cell = { attack, client: name, situation, outcome: await playOne(own, open, attack, has) }
      told(cell)
      cells.push(cell)
    }
  await liar.close()
  return cells
}

async function playOne(stage: Stage, open: Open, attack: Attack, situation: Situation) {
  const opened = await open(stage, attack, situation)
  try {
    await attack.begin(stage)
    return await opened.act()
  } finally {
    stage.liar.repent()
    await opened.close()
  }
}
