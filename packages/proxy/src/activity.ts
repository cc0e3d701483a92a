import { hostPattern, methodPattern } from '@skerry/contract/agents/policy-body'
import type { Body } from '@skerry/contract/endpoint'
import { limits } from '@skerry/contract/limits'
import type { tasks } from '@skerry/contract/tasks/endpoints'
import { SkerryError } from '@skerry/sdk/errors'
import type { Decision } from './refusal.ts'

type Report = Body<typeof tasks.report>
type Dimensions = Pick<Report['entries'][number], 'host' | 'method' | 'decision' | 'ruleIndex'>

/** The result of one request. */
export interface Event {
  host: string
  method: string
  decision: Decision
  ruleIndex: number | null
  secrets: readonly string[]
  version: number | undefined
}

export interface Activity {
  record(event: Event): void
  /** Counts by name how often an answer contained a secret. The answer may end long after its request was counted. */
  redacted(request: Event, counts: ReadonlyMap<string, number>): void
  /** Reports the counts since the last report. A report that cannot be sent is dropped. */
  flush(): Promise<void>
}

interface ActivityDeps {
  maxCells: number
  send: (report: Report) => Promise<unknown>
  now: () => number
  warn: (message: string) => void
}

const isHost = new RegExp(hostPattern)
const isMethod = new RegExp(methodPattern)

interface Cell {
  dimensions: Dimensions
  version: number | undefined
  count: number
  secrets: Map<string, number>
  redactions: Map<string, number>
}

/** Counts requests by host, method, decision and rule. The counts contain no path and no value. */
export function openActivity({ maxCells, send, now, warn }: ActivityDeps): Activity {
  let cells = new Map<string, Cell>()
  let dropped = 0
  let isPlain = false
  /** Undefined if there are already too many cells. */
  const cellOf = ({ host, method, decision, ruleIndex, version }: Event): Cell | undefined => {
    // A host or method that a report cannot name is counted as `other`.
    const dimensions = {
      host: isHost.test(host) ? host : 'other',
      method: isMethod.test(method) ? method : 'OTHER',
      decision,
      ruleIndex,
    }
    const key = `${version} ${Object.values(dimensions).join(' ')}`
    const known = cells.get(key)
    if (known || cells.size >= maxCells) return known
    const cell = { dimensions, version, count: 0, secrets: new Map(), redactions: new Map() }
    cells.set(key, cell)
    return cell
  }
  /**
   * A server that does not accept redactions refuses the whole report. This report and all later ones are then sent
   * without them.
   */
  const report = async (about: Omit<Report, 'entries'>, part: Cell[]): Promise<void> => {
    if (!isPlain) {
      try {
        await send({ ...about, entries: part.map(entryOf) })
        return
      } catch (error) {
        if (!isRefusedForm(error) || part.every(({ redactions }) => redactions.size === 0)) throw error
        isPlain = true
        warn('activity: this server cannot count redactions, so reports no longer contain them')
      }
    }
    const counted = part.filter(({ count }) => count > 0).map((cell) => entryOf({ ...cell, redactions: new Map() }))
    if (counted.length > 0) await send({ ...about, entries: counted })
  }
  return {
    record(event) {
      const cell = cellOf(event)
      if (!cell) {
        dropped++
        return
      }
      cell.count++
      for (const name of event.secrets) add(cell.secrets, name, 1)
    },
    redacted(request, counts) {
      const cell = counts.size === 0 ? undefined : cellOf(request)
      if (cell) for (const [name, times] of counts) add(cell.redactions, name, times)
    },
    async flush() {
      const full = [...cells.values()]
      cells = new Map()
      if (dropped > 0)
        warn(
          `activity: ${dropped} requests are missing from the report, because it can hold only ${maxCells} kinds of requests`,
        )
      dropped = 0
      const windowStart = new Date(Math.floor(now() / 1000) * 1000).toISOString()
      for (const [version, ofVersion] of Map.groupBy(full, (cell) => cell.version)) {
        const about = { windowStart, ...(version === undefined ? {} : { policyVersion: version }) }
        for (let at = 0; at < ofVersion.length; at += limits.activityEntriesMax) {
          const part = ofVersion.slice(at, at + limits.activityEntriesMax)
          await report(about, part).catch((error) =>
            warn(`activity: a report was not sent: ${(error as Error).message}`),
          )
        }
      }
    },
  }
}

const isRefusedForm = (error: unknown) => error instanceof SkerryError && (error.status === 400 || error.status === 422)

function add(counts: Map<string, number>, name: string, times: number): void {
  if (counts.has(name) || counts.size < limits.activitySecretsMax) counts.set(name, (counts.get(name) ?? 0) + times)
}

/** An empty member would be refused, so it is left out. */
const entryOf = ({ dimensions, count, secrets, redactions }: Cell) => ({
  ...dimensions,
  count,
  ...(secrets.size === 0 ? {} : { secrets: Object.fromEntries(secrets) }),
  ...(redactions.size === 0 ? {} : { redactions: Object.fromEntries(redactions) }),
})
