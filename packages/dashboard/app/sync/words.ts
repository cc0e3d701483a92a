import type { Binding, Run } from './queries.ts'

/** Describes a binding's destination by its fields: `shop` for a single field, otherwise `kind repo, owner acme`. */
export function destinationText({ destination }: Pick<Binding, 'destination'>): string {
  const { provider, ...fields } = destination as Record<string, unknown>
  const texts = Object.entries(fields).map(([name, value]) => [name, textOf(value)] as const)
  const [only, ...others] = texts
  return others.length === 0 ? (only?.[1] ?? '') : texts.map((text) => text.join(' ')).join(', ')
}

const textOf = (value: unknown): string =>
  Array.isArray(value) ? value.join('+') : typeof value === 'string' ? value : JSON.stringify(value)

export const runColors: Record<Run['status'], string> = {
  running: 'gray',
  succeeded: 'sea',
  partial: 'orange',
  failed: 'red',
}

export const triggerWords: Record<Run['trigger'], string> = {
  request: 'a request',
  change: 'a change',
  retry: 'a retry',
}

/** `3 pushed, 1 failed` */
export function countsText({ pushed, deleted, skipped, failures, unchanged }: Run): string {
  const counts = [
    [pushed.length, 'pushed'],
    [deleted.length, 'deleted'],
    [skipped.length, 'left alone'],
    [failures.length, 'failed'],
    [unchanged, 'unchanged'],
  ] as const
  const texts = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
  return texts.join(', ') || 'nothing to do'
}
