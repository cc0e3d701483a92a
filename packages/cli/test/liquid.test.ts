import { describe, expect, it } from 'vitest'
import { Failure, describe as tell } from '../src/failure.ts'
import { parseLiquid } from '../src/secrets/liquid.ts'

const hostile = `it's "q"\n$HOME \`id\` é`
const values = new Map([
  ['APP', 'shop'],
  ['DB_HOST', 'db.example.com'],
  ['DB_PASSWORD', 'value-of-the-password'],
  ['EMPTY', ''],
  ['HOSTILE', hostile],
])

const fill = (template: string) => parseLiquid(template, 'app.conf').fill(values, 'shop/development')

/** The refusal of a template, as `skerry` prints it. */
function refusal(template: string): string {
  try {
    return `filled: ${fill(template)}`
  } catch (error) {
    return error instanceof Failure ? `${error.kind}: ${tell(error)}` : String(error)
  }
}

describe('a Liquid template', () => {
  it('has conditions, loops over names with a prefix, and defaults', () => {
    expect(fill('{% if APP == "shop" %}a{% else %}b{% endif %}{% unless APP %}c{% endunless %}')).toBe('a')
    expect(fill('{% case APP %}{% when "web" %}1{% when "shop" %}2{% endcase %}')).toBe('2')
    const loop =
      '{% assign db = secrets | with_prefix: "DB_" %}{% for one in db %}{{ one.name | remove_first: "DB_" | downcase }}={{ one.value }};{% endfor %}'
    expect(fill(loop)).toBe('host=db.example.com;password=value-of-the-password;')
    expect(fill('{{ NONE | default: "x" }}{{ EMPTY | default: "y" }}{{ EMPTY }}')).toBe('xy')
    expect(fill('{% raw %}{{ APP }}{% endraw %}${APP}')).toBe('{{ APP }}${APP}')
  })

  it('lists the names that it refers to, and none if it lists all secrets', () => {
    expect(parseLiquid('{% if A %}{{ B | json }}{% endif %}{% assign c = A %}{{ c }}', 't').names).toEqual(['A', 'B'])
    expect(parseLiquid('{% for one in secrets %}{{ one.name }}{% endfor %}', 't').names).toBeNull()
  })

  it('inserts a value as it is, and never as a part of the template', () => {
    const tricky = new Map([
      ['A', '{{ B }}{% if %}${B}'],
      ['B', 'b'],
    ])
    expect(parseLiquid('{{ A }}', 't').fill(tricky, 'x')).toBe('{{ B }}{% if %}${B}')
  })

  it('encodes a value so that the target reads it back', () => {
    expect(JSON.parse(fill('{{ HOSTILE | json }}'))).toBe(hostile)
    expect(JSON.parse(fill('{{ HOSTILE | yaml }}'))).toBe(hostile)
    expect(fill('{{ HOSTILE | sh }}')).toBe(`'it'\\''s "q"\n$HOME \`id\` é'`)
    expect(Buffer.from(fill('{{ HOSTILE | base64 }}'), 'base64').toString()).toBe(hostile)
    expect(decodeURIComponent(fill('{{ HOSTILE | url }}'))).toBe(hostile)
    expect(fill('{{ HOSTILE | url }}')).toMatch(/^[\w.~%-]+$/)
    expect(fill('{{ HOSTILE | escape }}')).toContain('it&#39;s &#34;q&#34;')
  })
})

describe('a Liquid template is refused', () => {
  it.each([
    [
      '{{ NONE }}',
      'notFound: app.conf, line 1, column 4: shop/development has no NONE; set it, or put the part into {% if NONE %} … {% endif %}',
    ],
    ['a\n  {{ APP }}{{ NONE | sh }}', 'notFound: app.conf, line 2, column 15: shop/development has no NONE'],
    ['{% assign a = NONE | append: "x" %}{{ a }}', 'shop/development has no NONE'],
    ['{% for one in NONE %}{% endfor %}', 'shop/development has no NONE'],
    ['{% for one in secrets %}{{ one.nothing }}{% endfor %}', 'shop/development has no one.nothing'],
  ])('where it inserts a name that is not there: %s', (template, expected) => {
    expect(refusal(template)).toContain(expected)
  })

  it.each([
    ['{% if APP %}', 'usage: app.conf, line 1, column 1: tag {% if APP %} not closed'],
    ['\n\n{{ APP', 'usage: app.conf, line 3, column 1: output "{{ APP" not closed'],
    ['{{ APP | sha1 }}', 'there is no filter sha1; known: append, base64,'],
    ['{% include "/etc/passwd" %}', 'there is no tag include; known: assign, break,'],
    ['{% render "x" %}', 'there is no tag render'],
    ['{% layout "x" %}', 'there is no tag layout'],
    ['{{ secrets }}', 'a list is no text'],
    ['{{ secrets | sh }}', 'sh takes a text'],
    ['{{ APP | with_prefix: "A" }}', 'with_prefix takes the list secrets'],
    [`${'{% if APP %}'.repeat(3000)}${'{% endif %}'.repeat(3000)}`, 'app.conf has too many blocks inside each other'],
  ])('where it cannot be read or filled: %#', (template, expected) => expect(refusal(template)).toContain(expected))

  it.each([
    'constructor',
    '__proto__',
    'toString',
    'APP.constructor',
    'APP.__proto__',
    'secrets.constructor',
    'secrets.__proto__',
  ])('where it reaches for %s of an object', (expression) =>
    expect(refusal(`{{ ${expression} }}`)).toContain(`has no ${expression}`),
  )

  it.each([
    ['{% for i in (1..1000000000) %}{% endfor %}', 'too much memory or time'],
    [
      '{% assign a = "0123456789" %}{% for i in (1..60) %}{% assign a = a | append: a %}{% endfor %}',
      'too much memory',
    ],
    [
      '{% assign a = "aaaaaaaa" %}{% for i in (1..60) %}{% assign a = a | replace: "a", a %}{% endfor %}',
      'too much memory',
    ],
    [`{% for i in (1..100000) %}${'x'.repeat(2000)}{% endfor %}`, 'more than 16777216 characters'],
  ])('where it would exhaust the memory: %#', (template, expected) => expect(refusal(template)).toContain(expected))

  it.each([
    '{{ secrets[DB_PASSWORD] }}',
    '{{ APP[DB_PASSWORD] }}',
    '{{ DB_PASSWORD | append }}',
    '{{ DB_PASSWORD | with_prefix: DB_PASSWORD }}',
    '{% for one in secrets %}{{ one[one.value] }}{% endfor %}',
    '{% for i in (1..DB_PASSWORD) %}{{ i }}{{ NONE[i] }}{% endfor %}{{ NONE }}',
  ])('without telling a value: %s', (template) => {
    expect(refusal(template)).toMatch(/^(usage|notFound): app\.conf, line 1/)
    expect(refusal(template)).not.toContain('value-of-the-password')
  })
})
