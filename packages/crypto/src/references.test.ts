import { describe, expect, test } from 'vitest'
import { cpuMs } from '../test/cpu-ms.ts'
import published from '../vectors/published.json' with { type: 'json' }
import vectors from '../vectors/references.json' with { type: 'json' }
import { escapeReferences, expandEach, expandedValueLimitBytes, expandReferences, referencesIn } from './references.ts'

interface Case {
  guarantee: string
  stored: Record<string, string>
  expanded: Record<string, string>
  unresolved: string[]
}
interface Cycle {
  guarantee: string
  stored: Record<string, string>
  chain: string
}
const cases = vectors.cases as unknown as Case[]
const cycles = vectors.cycles as unknown as Cycle[]

const tooLarge = (name: string) => expect.objectContaining({ code: 'reference_too_large', subject: name })

describe('expanding references', () => {
  test.each(cases)('$guarantee', ({ stored, expanded, unresolved }) => {
    expect(expandReferences(stored)).toEqual({ values: expanded, unresolved })
  })

  test.each(cycles)('is refused with the chain: $guarantee', ({ stored, chain }) => {
    const refusal = expect.objectContaining({
      code: 'reference_cycle',
      subject: chain,
      message: expect.stringContaining(chain),
    })
    expect(() => expandReferences(stored)).toThrow(refusal)
  })

  test('gives the same result as the published clients for their own secrets', () => {
    const { values, unresolved } = expandReferences(published.merged)
    expect(values).toEqual(published.expanded)
    expect(unresolved).toEqual(published.unresolved)
  })

  test('does not change its input, keeps its order and expands an empty set', () => {
    const stored = Object.freeze({ B: '${A}', A: 'a' })
    expect(Object.keys(expandReferences(stored).values)).toEqual(['B', 'A'])
    expect(expandReferences({})).toEqual({ values: {}, unresolved: [] })
  })

  test('handles secrets that are named like members of objects', () => {
    const stored = JSON.parse('{"__proto__":"p","constructor":"c","T":"${__proto__}${constructor}${toString}"}')
    const { values, unresolved } = expandReferences(stored)
    expect(JSON.parse(JSON.stringify(values))).toEqual(
      JSON.parse('{"__proto__":"p","constructor":"c","T":"pc${toString}"}'),
    )
    expect(Object.keys(values)).toEqual(['__proto__', 'constructor', 'T'])
    expect(unresolved).toEqual(['toString'])
    expect(({} as Record<string, unknown>).p).toBeUndefined()
  })
})

describe('a failed expansion', () => {
  const stored = { LOOP: 'x${LOOP}', INTO: '${LOOP}', A: '${B}', B: '${A}', GOOD: '${BASE}/x', BASE: 'b' }

  test('affects the names in a cycle and those that lead into it, and no others', () => {
    const { values, failed } = expandEach(stored)
    expect(values).toEqual({ GOOD: 'b/x', BASE: 'b' })
    expect([...failed].map(([name, { subject }]) => [name, subject])).toEqual([
      ['LOOP', 'LOOP -> LOOP'],
      ['INTO', 'LOOP -> LOOP'],
      ['A', 'A -> B -> A'],
      ['B', 'A -> B -> A'],
    ])
  })

  test('does not affect a call for other names', () => {
    expect(expandReferences(stored, ['GOOD']).values).toEqual({ GOOD: 'b/x' })
    expect(() => expandReferences(stored, ['INTO'])).toThrow(expect.objectContaining({ code: 'reference_cycle' }))
  })

  test('is also reported for a value that is too large', () => {
    const half = 'x'.repeat(expandedValueLimitBytes / 2)
    const { values, failed } = expandEach({ HALF: half, BIG: '${HALF}${HALF}!', AFTER: '${BIG}', SMALL: 's' })
    expect(Object.keys(values)).toEqual(['HALF', 'SMALL'])
    expect([...failed].map(([name, { subject }]) => [name, subject])).toEqual([
      ['BIG', 'BIG'],
      ['AFTER', 'BIG'],
    ])
  })
})

test('an escaped text expands to the text itself, whatever it contains', () => {
  const pieces = ['$', '{', '}', 'A', '$$', '${', '${A}', '$${A}', '${A:-x}', ' ']
  let seed = 1
  const next = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed
  }
  for (let round = 0; round < 5000; round++) {
    const text = Array.from({ length: next() % 8 }, () => pieces[next() % pieces.length]).join('')
    expect(expandReferences({ A: 'a', T: escapeReferences(text) }).values.T, text).toBe(text)
    expect(referencesIn(escapeReferences(text))).toEqual([])
  }
  expect(referencesIn('${A} $${B} ${C:-x} $D ${A}${_E}')).toEqual(['A', '_E'])
})

describe('a chain of references', () => {
  const chain = (length: number, last: string) => {
    const links = Array.from({ length }, (_, i) => [`N${i}`, i + 1 < length ? `<\${N${i + 1}}>` : last])
    return Object.fromEntries(links) as Record<string, string>
  }

  test('may have 10,000 links', () => {
    const { values } = expandReferences(chain(10_000, 'end'))
    expect(values.N0).toBe(`${'<'.repeat(9_999)}end${'>'.repeat(9_999)}`)
  })

  test('with 10,000 links that closes to a cycle is refused, not followed forever', () => {
    expect(() => expandReferences(chain(10_000, '${N0}'))).toThrow(expect.objectContaining({ code: 'reference_cycle' }))
  })
})

describe('the size limit', () => {
  const limit = expandedValueLimitBytes

  test('is 1,048,576 bytes: exactly this many pass, and one more does not', () => {
    const half = 'x'.repeat(limit / 2)
    expect(expandReferences({ A: half, B: '${A}${A}' }).values.B).toHaveLength(limit)
    expect(() => expandReferences({ A: half, B: '${A}${A}!' })).toThrow(tooLarge('B'))
  })

  test('counts bytes of UTF-8, not characters', () => {
    const quarter = '🌍'.repeat(limit / 16)
    const accents = 'é'.repeat(limit / 4)
    const dashes = '—'.repeat(Math.floor(limit / 3))
    expect(() => expandReferences({ A: quarter, B: '${A}${A}${A}${A}' })).not.toThrow()
    expect(() => expandReferences({ A: quarter, B: '${A}${A}${A}${A}.' })).toThrow(tooLarge('B'))
    expect(() => expandReferences({ A: accents, B: '${A}${A}' })).not.toThrow()
    expect(() => expandReferences({ A: accents, B: '${A}${A}.' })).toThrow(tooLarge('B'))
    expect(() => expandReferences({ A: dashes, B: '${A}.' })).not.toThrow()
    expect(() => expandReferences({ A: dashes, B: '${A}..' })).toThrow(tooLarge('B'))
  })

  test('stops nested multiplication at the first value that exceeds it, within 1 s of processor time', async () => {
    const stored: Record<string, string> = { L0: 'ha' }
    for (let i = 1; i <= 100; i++) stored[`L${i}`] = `\${L${i - 1}}`.repeat(10)
    const took = await cpuMs(() => {
      expect(() => expandReferences(stored)).toThrow(tooLarge('L6'))
      expect(() => expandReferences({ TOP: '${L100}', ...stored })).toThrow(tooLarge('L6'))
    })
    expect(took).toBeLessThan(1000)
  })

  test('does not slow down 250,000 empty references, or a million dollar signs', async () => {
    const took = await cpuMs(() => {
      expect(expandReferences({ E: '', T: '${E}'.repeat(250_000) }).values.T).toBe('')
      expect(expandReferences({ T: '${'.repeat(500_000) }).unresolved).toEqual([])
      expect(expandReferences({ T: '$'.repeat(1_000_000) }).unresolved).toEqual([])
    })
    expect(took).toBeLessThan(2000)
  })
})
