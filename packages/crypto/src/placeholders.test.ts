import { describe, expect, test } from 'vitest'
import { cpuMs } from '../test/cpu-ms.ts'
import vectors from '../vectors/placeholders.json' with { type: 'json' }
import { type PlaceholderLookup, substitute } from './placeholders.ts'

interface Case {
  guarantee: string
  text: string
  values: Record<string, string>
  denied: string[]
  sent?: string
  names?: string[]
  refused?: string
  subject?: string
}
const cases = vectors.cases as unknown as Case[]

function lookupOf({ values, denied }: Case): PlaceholderLookup {
  return (name) => {
    if (denied.includes(name)) return 'denied'
    return Object.hasOwn(values, name) ? { value: values[name]! } : 'unknown'
  }
}

describe('substituting placeholders', () => {
  test.each(cases)('$guarantee', (row) => {
    const run = () => substitute(row.text, lookupOf(row))
    if (row.refused === undefined) expect(run()).toEqual({ text: row.sent, names: row.names })
    else expect(run).toThrow(expect.objectContaining({ code: row.refused, subject: row.subject }))
  })

  test('names the secret in its error, and repeats no value', () => {
    const lookup: PlaceholderLookup = (name) => (name === 'GOOD' ? { value: 'sk-live' } : 'denied')
    const run = () => substitute('{{seekrit:GOOD}} {{seekrit:BAD}}', lookup)
    expect(run).toThrow(/BAD/)
    expect(run).not.toThrow(/sk-live/)
  })

  test('treats 200,000 open markers as text, within a second of processor time', async () => {
    const text = '{{seekrit:'.repeat(200_000)
    const took = await cpuMs(() => {
      expect(substitute(text, () => 'denied')).toEqual({ text, names: [] })
      expect(substitute(`{{seekrit:${'A'.repeat(2_000_000)}`, () => 'denied').names).toEqual([])
    })
    expect(took).toBeLessThan(1000)
  })
})
