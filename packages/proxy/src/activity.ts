import type { Body } from '@skerry/contract/endpoint'
import { limits } from '@skerry/contract/limits'
import { hostPattern, methodPattern } from '@skerry/contract/policy-body'
import type { tasks } from '@skerry/contract/tasks'
import type { Decision } from './refusal.ts'

type Report = Body<typeof tasks.report>
type Dimensions = Pick<Report['entries'][number], 'host' | 'method' | 'decision' | 'ruleIndex'>

/** What one request came to. */
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
  /** Reports what was counted since the last time; what cannot be reported is dropped. */
  flush(): Promise<void>
}

interface Means {
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
}

/** Counts by host, method, decision and rule. No path is in it, and no value. */
export function openActivity({ maxCells, send, now, warn }: Means): Activity {
  let cells = new Map<string, Cell>()
  let dropped = 0
  return {
    record({ host, method, decision, ruleIndex, secrets, version }) {
      // What a report cannot name is counted all the same.
      const dimensions = {
        host: isHost.test(host) ? host : 'other',
        method: isMethod.test(method) ? method : 'OTHER',
        decision,
        ruleIndex,
      }
      const key = `${version} ${Object.values(dimensions).join(' ')}`
      const known = cells.get(key)
      if (!known && cells.size >= maxCells) {
        dropped++
        return
      }
      const cell = known ?? { dimensions, version, count: 0, secrets: new Map() }
      cell.count++
      for (const name of secrets)
        if (cell.secrets.has(name) || cell.secrets.size < limits.activitySecretsMax)
          cell.secrets.set(name, (cell.secrets.get(name) ?? 0) + 1)
      cells.set(key, cell)
    },
    async flush() {
      const full = [...cells.values()]
      cells = new Map()
      if (dropped > 0) warn(`activity: ${dropped} requests are not in the report: more than ${maxCells} kinds of them`)
      dropped = 0
      const windowStart = new Date(Math.floor(now() / 1000) * 1000).toISOString()
      for (const [version, ofVersion] of Map.groupBy(full, (cell) => cell.version)) {
        const entries = ofVersion.map(entryOf)
        for (let at = 0; at < entries.length; at += limits.activityEntriesMax) {
          const part = entries.slice(at, at + limits.activityEntriesMax)
          const report = { windowStart, ...(version === undefined ? {} : { policyVersion: version }), entries: part }
          await send(report).catch((error) => warn(`activity: a report was lost: ${(error as Error).message}`))
        }
      }
    },
  }
}

/** Without secrets there is no such member: an empty one would be refused. */
const entryOf = ({ dimensions, count, secrets }: Cell) => ({
  ...dimensions,
  count,
  ...(secrets.size === 0 ? {} : { secrets: Object.fromEntries(secrets) }),
})
