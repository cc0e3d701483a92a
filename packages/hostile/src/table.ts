import type { Act, Attack, Outcome, Remains, SituationName } from './attack.ts'

/** The outcome for one client in one situation while the server played one attack. */
export interface Cell {
  attack: Attack
  client: string
  situation: SituationName
  outcome: Outcome
}

/** The heading of the threat model that says what a hostile server can do all the same. */
const headings: Readonly<Record<Remains, string>> = {
  'without-a-pin': 'without a pin',
  'without-memory': 'without memory',
  'values-can-be-rolled-back': 'values can be rolled back',
}

const columns: readonly SituationName[] = ['nothing', 'memory', 'pin', 'both']
const titles: Readonly<Record<Act, string>> = {
  run: 'A program is started with a token',
  grant: 'A person grants a key',
  rekey: 'A person replaces a key',
}

/** Whether the outcome is one that the threat model allows: a lie that is accepted needs a sentence there. */
export function isExpected({ attack, situation, outcome }: Cell): boolean {
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
  const rows = [...new Set(cells.map(({ attack }) => attack))].flatMap((attack) => {
    const clients = [...new Set(cells.filter((cell) => cell.attack === attack).map(({ client }) => client))]
    return clients.map((client) => {
      const words = columns.map((situation) =>
        wordOf(cells.find((cell) => cell.attack === attack && cell.client === client && cell.situation === situation)),
      )
      return `| ${attack.title} (\`${attack.id}\`) | ${client} | ${words.join(' | ')} |`
    })
  })
  return [
    '| The attack | Client | without memory, without a pin | with memory | with a pin | with both |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}

function wordOf(cell: Cell | undefined): string {
  if (!cell) return ''
  const { attack, situation, outcome } = cell
  const remains = attack.remains?.[situation]
  if (outcome.seen === 'refused') return 'refused'
  if (outcome.seen === 'unharmed') return 'no effect'
  const link = remains === undefined ? '' : `: [${headings[remains]}](threat-model.md#${remains})`
  return `${outcome.seen}${link}`
}
