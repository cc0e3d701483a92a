import { type Act, type Attack, type Outcome, type Remains, type SituationName, situations } from './attack.ts'

/** The outcome for one client in one situation while the server played one attack. */
export interface Cell {
  attack: Attack
  client: string
  situation: SituationName
  outcome: Outcome
}

const columns = Object.keys(situations) as SituationName[]
const titles: Readonly<Record<Act, string>> = {
  run: 'A program is started with a token',
  branch: 'A program is started with a token, on a branch',
  write: 'A person stores a secret',
  unlock: 'A person opens the keyring',
  encrypt: 'A person encrypts with a managed key',
  grant: 'A person grants a key',
  rekey: 'A person replaces a key',
  pin: 'A person gives a machine a pin',
}

/** Whether the outcome is one that the threat model allows: a lie that is accepted needs a sentence there. */
export function isExpected({ attack, situation, outcome }: Cell): boolean {
  if (attack.isHonest) return outcome.seen === 'unharmed'
  const mayBeAccepted = attack.remains?.[situation] !== undefined
  return outcome.seen === 'refused' || outcome.seen === 'unharmed' || mayBeAccepted
}

/** Writes all outcomes as the tables of docs/hostile-server.md. */
export function formatTables(cells: readonly Cell[]): string {
  const acts = [...new Set(cells.map(({ attack }) => attack.act))]
  return acts
    .map((act) => `### ${titles[act]}\n\n${formatTable(cells.filter((cell) => cell.attack.act === act))}`)
    .join('\n\n')
}

function formatTable(cells: readonly Cell[]): string {
  const rows = [...new Set(cells.map(({ attack }) => attack))].flatMap((attack) =>
    rowsOf(cells.filter((cell) => cell.attack === attack)).map(
      ([clients, words]) => `| ${attack.title} (\`${attack.id}\`) | ${clients.join(', ')} | ${words} |`,
    ),
  )
  return [
    '| The attack | Client | without memory, without a pin | with memory | with a pin | with both |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}

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
  const link = remains === undefined ? '' : `: [${headingOf(remains)}](threat-model.md#${remains})`
  return `${outcome.seen}${link}`
}

/** The heading of the threat model, in a sentence. */
const headingOf = (remains: Remains): string => remains.replaceAll('-', ' ')
