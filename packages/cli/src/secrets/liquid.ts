import { AssignTag, Context, type Emitter, Liquid, LiquidError, type Template, toValueSync } from 'liquidjs'
import { Failure, usage } from '../failure.ts'
import { shellText, yamlText } from '../formats.ts'

// Liquid templates of `secrets substitute --liquid`. LiquidJS evaluates a template without running code. Tags that read
// other files or keep output aside are left out, and so are filters that no file of settings needs. This module is
// loaded only for a Liquid template, because the library is large.

/** The name of the list of all secrets in a template. */
const listName = 'secrets'

const tags = ['assign', 'break', 'case', 'comment', 'continue', 'for', 'if', 'raw', 'unless']

const filtersOfLibrary = [
  ...['append', 'default', 'downcase', 'escape', 'first', 'join', 'json', 'last'],
  ...['prepend', 'remove_first', 'replace', 'size', 'split', 'strip', 'upcase'],
]

/** The encodings of a value for the file that the template makes. */
const encodings: Readonly<Record<string, (text: string) => string>> = {
  base64: (text) => Buffer.from(text).toString('base64'),
  sh: shellText,
  url: (text) => encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`),
  yaml: yamlText,
}

const templateMaxCharacters = 4 * 1024 * 1024
const outputMaxCharacters = 16 * 1024 * 1024
/** The characters and list entries that all filters and ranges of one template may make. */
const memoryMax = 16 * 1024 * 1024
const renderMaxMs = 5000

/** A problem whose message names no value. */
class TemplateProblem extends Error {}

/** `assign` refuses a name that does not exist. The one of the library would store nothing under the new name. */
class StrictAssign extends AssignTag {
  override *render(context: Context) {
    const { key, value } = this as unknown as { key: string; value: { value: (...given: unknown[]) => unknown } }
    ;(context.bottom() as Record<string, unknown>)[key] = yield value.value(context, false)
  }
}

export interface LiquidTemplate {
  /** The names that the template refers to. Null if it lists all secrets. */
  names: readonly string[] | null
  fill: (values: ReadonlyMap<string, string>, label: string) => string
}

/** Reads a template. `from` is its file in errors. */
export function parseLiquid(text: string, from: string): LiquidTemplate {
  const engine = newEngine()
  return explained(from, () => {
    const parsed = engine.parse(text)
    const names = engine.globalVariablesSync(parsed)
    return {
      names: names.includes(listName) ? null : names,
      fill: (values, label) => explained(from, () => render(engine, parsed, values), label),
    }
  })
}

function newEngine(): Liquid {
  const engine = new Liquid({
    ownPropertyOnly: true,
    strictVariables: true,
    strictFilters: true,
    // A condition may ask whether a name exists.
    lenientIf: true,
    parseLimit: templateMaxCharacters,
    memoryLimit: memoryMax,
    renderLimit: renderMaxMs,
  })
  for (const name of Object.keys(engine.tags)) if (!tags.includes(name)) delete engine.tags[name]
  for (const name of Object.keys(engine.filters)) if (!filtersOfLibrary.includes(name)) delete engine.filters[name]
  engine.registerTag('assign', StrictAssign)
  for (const [name, encode] of Object.entries(encodings)) {
    engine.registerFilter(name, function (value) {
      const encoded = encode(textOf(value, name))
      this.context.memoryLimit.use(encoded.length)
      return encoded
    })
  }
  engine.registerFilter('with_prefix', (list, prefix) => {
    if (!Array.isArray(list)) throw new TemplateProblem(`with_prefix takes the list ${listName}`)
    return list.filter(({ name }) => typeof name === 'string' && name.startsWith(textOf(prefix, 'with_prefix')))
  })
  return engine
}

function textOf(value: unknown, filter: string): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  throw new TemplateProblem(`${filter} takes a text`)
}

function render(engine: Liquid, parsed: Template[], values: ReadonlyMap<string, string>): string {
  const scope: Record<string, unknown> = Object.assign(Object.create(null), Object.fromEntries(values))
  scope[listName] = [...values]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => Object.assign(Object.create(null), { name, value }))
  const output = new LimitedOutput()
  toValueSync(engine.renderer.renderTemplates(parsed, new Context(scope, engine.options, { sync: true }), output))
  return output.buffer
}

/** Collects the filled text. The library limits what filters make, and not what a loop writes. */
class LimitedOutput implements Emitter {
  buffer = ''

  write(part: unknown): void {
    if (typeof part === 'object' && part !== null) {
      throw new TemplateProblem('a list is no text; loop over it with `for`, or write it with `| json`')
    }
    this.buffer += String(part ?? '')
    if (this.buffer.length > outputMaxCharacters) {
      throw new TemplateProblem(`the filled text would have more than ${outputMaxCharacters} characters`)
    }
  }
}

/** Runs `work`, and turns an error of the library into a failure that says where it is in the template. */
function explained<T>(from: string, work: () => T, label = ''): T {
  try {
    return work()
  } catch (error) {
    const isTooDeep = [error, (error as LiquidError).originalError].some((one) => one instanceof RangeError)
    if (isTooDeep) throw usage(`${from} has too many blocks inside each other`)
    if (!LiquidError.is(error)) throw error
    const [line, column] = error.token.getPosition()
    throw failureOf(error, `${from}, line ${line}, column ${column}`, label)
  }
}

/** The text of a value can be in the library's message about an expression, so only messages without one are shown. */
function failureOf(error: LiquidError, where: string, label: string): Failure {
  const { originalError } = error
  const expression = short(error.token.getText())
  if (error.name === 'UndefinedVariableError') {
    const next = `set it, or put the part into {% if ${expression} %} … {% endif %}`
    return new Failure('notFound', `${where}: ${label} has no ${expression}`, next)
  }
  if (originalError instanceof TemplateProblem) return usage(`${where}: ${originalError.message}`)
  const reason = error.message.replace(/, line:\d+.*/s, '')
  const [, filter] = /^undefined filter: (.*)/s.exec(reason) ?? []
  if (filter !== undefined) return usage(`${where}: there is no filter ${short(filter)}`, `known: ${knownFilters()}`)
  const [, tag] = /^tag "(.*)" not found/s.exec(reason) ?? []
  if (tag !== undefined) return usage(`${where}: there is no tag ${short(tag)}`, `known: ${tags.join(', ')}`)
  if (/ limit exceeded$/.test(reason)) return usage(`${where}: filling the template would take too much memory or time`)
  return usage(`${where}: ${error.name === 'RenderError' ? 'this cannot be filled' : short(reason)}`)
}

const knownFilters = () => [...filtersOfLibrary, ...Object.keys(encodings), 'with_prefix'].sort().join(', ')

const short = (text: string) => (text.length > 80 ? `${text.slice(0, 80)}…` : text)
