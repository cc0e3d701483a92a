import type { FakeAnswer, FakeRequest } from '../http-fake.ts'

type Failure = 'credential' | 'rate' | 'echo' | 'missing'

/** The common part of the fakes of destinations: names with values, counts of their changes, and failures on demand. */
export class FakeState {
  readonly values = new Map<string, string>()
  /** How often each name was written or deleted. */
  readonly changes = new Map<string, number>()
  private failure: Failure | undefined
  private refused = new Set<string>()
  private left = Number.POSITIVE_INFINITY
  private count = 0
  private readonly onReset: () => void

  constructor(onReset: () => void = () => {}) {
    this.onReset = onReset
  }

  set(name: string, value: string): void {
    this.values.set(name, value)
    this.changes.set(name, (this.changes.get(name) ?? 0) + 1)
  }

  delete(name: string): boolean {
    this.changes.set(name, (this.changes.get(name) ?? 0) + 1)
    return this.values.delete(name)
  }

  /** A time that changes with the name’s value. */
  changedAt(name: string): string {
    return new Date(Date.UTC(2026, 0, 1) + (this.changes.get(name) ?? 0) * 1000).toISOString()
  }

  is(failure: Failure): boolean {
    return this.failure === failure
  }

  /** Call it once for each request that would change something, with the name at the destination. */
  mayWrite(name: string): 'yes' | 'refused' | 'too many' {
    this.count++
    if (this.failure === 'rate' || this.left <= 0) return 'too many'
    if (this.failure === 'echo' || this.refused.has(name)) return 'refused'
    this.left--
    return 'yes'
  }

  /** The parts of a `SyncFake`, except its connection and its server. */
  controls() {
    return {
      reset: () => {
        this.values.clear()
        this.failure = undefined
        this.refused = new Set()
        this.left = Number.POSITIVE_INFINITY
        this.count = 0
        this.onReset()
      },
      values: () => this.values,
      put: (name: string, value: string) => this.set(name, value),
      writes: () => this.count,
      fail: (how: Failure) => {
        this.failure = how
      },
      refuse: (name: string) => void this.refused.add(name),
      tire: (after: number) => {
        this.left = after
      },
    }
  }
}

/** Returns the object in a request, or the reason why the service would refuse it. */
export function jsonObject(
  request: FakeRequest,
  fields: readonly string[],
  required: readonly string[] = [],
): { body: Record<string, unknown> } | { problem: string } {
  if (request.body === '') return { problem: 'no body' }
  const body = JSON.parse(request.body) as Record<string, unknown>
  const unknown = Object.keys(body).find((name) => !fields.includes(name))
  const missing = required.find((name) => body[name] === undefined)
  if (unknown !== undefined) return { problem: `unknown field ${unknown}` }
  return missing === undefined ? { body } : { problem: `missing field ${missing}` }
}

export const empty = (status: number): FakeAnswer => ({ status })
