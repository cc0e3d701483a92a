import { type Attack, type Outcome, type SituationName, situations } from './attack.ts'

/** The outcome for one client in one situation while the server played one attack. */
export interface Cell {
  attack: Attack
  client: string
  situation: SituationName
  outcome: Outcome
}

const columns = Object.keys(situations) as SituationName[]
/** Whether the outcome is one that the threat model allows: a lie that is accepted needs a sentence there. */
export function isExpected({ attack, situation, outcome }: Cell): boolean {
  if (attack.isHonest) return outcome.seen === 'unharmed'
  const mayBeAccepted = attack.remains?.[situation] !== undefined
  return outcome.seen === 'refused' || outcome.seen === 'unharmed' || mayBeAccepted
}

/** Attacks that share a table. */
export interface AttackGroup {
  title: string
  attacks: readonly Attack[]
}

/** Writes all outcomes as the tables of docs/hostile-server.md. */
export const formatTables = (cells: readonly Cell[], groups: readonly AttackGroup[]): string =>
  groups
    .map(
      ({ title, attacks }) => `### ${title}\n\n${formatTable(cells.filter(({ attack }) => attacks.includes(attack)))}`,
    )
    .join('\n\n')

function formatTable(cells: readonly Cell[]): string {
  const rows = [...new Set(cells.map(({ attack }) => attack))].flatMap((attack) =>
    rowsOf(cells.filter((cell) => cell.attack === attack)).map(
      ([clients, words]) => `| ${attack.title} (\`${attack.id}\`) | ${clientsIn(clients)} | ${words} |`,
    ),
  )
  return [
    '| The attack | Client | Fresh | With memory | With a pin | With both |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}

/** The command line, the SDK and the proxy are all clients that run programs. */
const clientsIn = (clients: readonly string[]): string => (clients.length === 3 ? 'all three' : clients.join(', '))

/** One row for each distinct outcome of one attack, with the clients that share it. */
function rowsOf(cells: readonly Cell[]): [clients: string[], words: string][] {
  const clients = [...new Set(cells.map(({ client }) => client))]
  const rows = new Map<string, string[]>()
  for (const client of clients) {
    const words = columns
      .map((situation) => wordOf(cells.find((cell) => cell.client === client && cell.situation === situation)))
      .join(' | ')
    rows.set(words, [...(rows.get(words) ?? []), client])
  }
  return [...rows].map(([words, sharing]) => [sharing, words])
}

function wordOf(cell: Cell | undefined): string {
  if (!cell) return ''
  const { attack, situation, outcome } = cell
  const remains = attack.remains?.[situation]
  if (outcome.seen === 'refused') return 'refused'
  if (outcome.seen === 'unharmed') return 'no effect'
  return remains === undefined ? outcome.seen : `[${outcome.seen}](threat-model.md#${remains})`
}
