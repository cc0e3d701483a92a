import { type Attack, type Situation, type SituationName, situations } from './attack.ts'
import { directories } from './attacks/directories.ts'
import { environments } from './attacks/environments.ts'
import { readers } from './attacks/readers.ts'
import { clients } from './clients.ts'
import type { Stage } from './stage.ts'
import type { Cell } from './table.ts'

/** Every attack, in the order of the tables. */
export const attacks: readonly Attack[] = [...environments, ...directories, ...readers]

/** Plays attacks against every client in every situation. The server is honest again after each. */
export async function play(stage: Stage, chosen: readonly Attack[], told: (cell: Cell) => void): Promise<Cell[]> {
  const cells: Cell[] = []
  for (const attack of chosen)
    for (const [situation, has] of Object.entries(situations) as [SituationName, Situation][])
      for (const [client, open] of Object.entries(clients[attack.act])) {
        const opened = await open(stage, has)
        try {
          await attack.begin(stage)
          const cell = { attack, client, situation, outcome: await opened.act() }
          told(cell)
          cells.push(cell)
        } finally {
          stage.liar.repent()
          await opened.close()
        }
      }
  return cells
}
