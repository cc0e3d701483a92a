import { describe, expect, it } from 'vitest'
import { readJson } from './json-values.ts'

describe('readJson', () => {
  it.each([
    {},
    { A: '' },
    { A: 'x', b: 'two\nlines', __proto_: '' },
    { QUOTED: '"\\/\b\f\n\r\t', UNICODE: 'é\u2028𝄞\ud800\u0000', BRACES: '{}[]:,' },
  ])('reads what JSON.stringify writes: %j', (object) => {
    for (const indent of [0, 2, '\t']) {
      const { values, problems, warnings } = readJson(JSON.stringify(object, null, indent))
      expect([Object.fromEntries(values), problems, warnings]).toEqual([object, [], []])
    }
  })

  it('reads a byte order mark, Windows line ends and a name that objects have already', () => {
    expect([...readJson('\ufeff{\r\n  "__proto__" : "x"\r\n}\r\n').values]).toEqual([['__proto__', 'x']])
  })

  it('reads a value of 4 million characters', () => {
    const value = 'a\\"'.repeat(1_400_000)
    expect(readJson(`{"A": "${value}"}`).values.get('A')).toBe(value.replaceAll('\\"', '"'))
  })

  it.each([
    ['nothing', '', 1, 'is not a JSON object'],
    ['a list', '\n["hunter2"]', 2, 'is not a JSON object'],
    ['an open object', '{\n"A": "hunter2"\n', 3, 'a comma or } is missing'],
    ['an open value', '{"A": "hunter2', 1, 'this is not "NAME": "value"'],
    ['a line break in a value', '{"A": "hun\nter2"}', 1, 'this is not "NAME": "value"'],
    ['a name without quotes', '{\nA: "hunter2"}', 2, 'this is not "NAME": "value"'],
    ['a comma too many', '{"A": "hunter2",\n}', 2, 'this is not "NAME": "value"'],
    ['a missing comma', '{"A": "hunter2"\n"B": "hunter2"}', 2, 'a comma or } is missing'],
    ['a number', '{\n"A": 12}', 2, 'the value of A is not a text'],
    ['null', '{"A": null}', 1, 'the value of A is not a text'],
    ['an object in the object', '{\n"A": {"B": "hunter2"}}', 2, 'the value of A is not a text'],
    ['a list as a value', '{"A": ["hunter2"]}', 1, 'the value of A is not a text'],
    ['an escape that JSON has not', '{"A": "\\x20"}', 1, 'this is not "NAME": "value"'],
    ['a name with a blank', '{"hunter2 hunter2": "x"}', 1, 'the name is not valid'],
    ['a second object', '{"A": "x"}\n{"B": "hunter2"}', 2, 'text follows the end'],
  ])('refuses %s with its line, and never repeats a value', (_, text, line, message) => {
    const { problems, warnings } = readJson(text)
    expect(problems[0]).toEqual({ line, message: expect.stringContaining(message) })
    expect(JSON.stringify([problems, warnings])).not.toContain('hunter2')
  })

  it('names every value that is not a text', () => {
    expect(readJson('{"A": 1,\n"B": "x",\n"C": true}').problems.map(({ line }) => line)).toEqual([1, 3])
  })

  it('warns of a name that is set twice, and uses the last value', () => {
    const { values, warnings } = readJson('{"A": "1",\n"A": "2"}')
    expect(values.get('A')).toBe('2')
    expect(warnings).toEqual([{ line: 2, message: 'A is also on line 1; the value on this line is used' }])
  })
})
