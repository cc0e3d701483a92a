import type { Document, Node, Pair, Scalar, YAMLMap } from 'yaml'
import { usage } from '../failure.ts'
import type { Values } from './names.ts'

interface YamlSettings {
  /** Joins the names of nested maps with `_` instead of refusing them. */
  flatten?: boolean | undefined
  /** Turns each name into the name of a secret, or refuses it by returning undefined. */
  nameOf: (text: string) => string | undefined
}

type Yaml = typeof import('yaml')

/** The largest number of values, aliases and maps that are read. A few lines of aliases can stand for billions. */
const nodesMax = 10_000

/**
 * Reads a YAML map of names and texts. A number, boolean or date keeps the text that the file has: `007` stays `007`.
 * The parser's own messages quote the file, so this module words each message itself.
 */
export async function readYaml(text: string, from: string, settings: YamlSettings): Promise<Values> {
  const yaml = await import('yaml')
  const lines = new yaml.LineCounter()
  // Names are compared as text, because NO and OFF are the same boolean in YAML 1.1.
  const uniqueKeys = (a: unknown, b: unknown) => yaml.isScalar(a) && yaml.isScalar(b) && textOf(a) === textOf(b)
  const parsed = yaml.parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, uniqueKeys })
  const documents: Document.Parsed[] = 'empty' in parsed ? [] : parsed
  const lineOf = (offset: number | undefined) => lines.linePos(offset ?? 0).line
  const refuse = (offset: number | undefined, message: string, next?: string) =>
    usage(`${from}, line ${lineOf(offset)}: ${message}, so nothing was imported`, next)
  const [document, second] = documents
  const error = document?.errors[0]
  if (error) throw refuse(error.pos[0], mistakes[error.code] ?? 'this is not YAML')
  if (second) throw refuse(second.range[0], 'a second document begins', 'import each document by itself')
  if (!document?.contents) return new Map()
  return new MapReader(yaml, document, refuse, settings).read(document.contents)
}

const mistakes: Readonly<Record<string, string>> = {
  BAD_ALIAS: 'the alias names no anchor before it',
  BAD_DQ_ESCAPE: 'in double quotes, a backslash begins no known escape',
  BAD_INDENT: 'the indentation is wrong',
  BAD_SCALAR_START: 'a text that begins with this character needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a map begins in the line of its name',
  DUPLICATE_KEY: 'the name was set before',
  MISSING_CHAR: 'a character is missing, such as a closing quote or a colon',
  TAB_AS_INDENT: 'a tab indents the line (use spaces)',
}

type Refuse = (offset: number | undefined, message: string, next?: string) => Error

/** Walks through the maps of one document. */
class MapReader {
  readonly #yaml: Yaml
  readonly #document: Document.Parsed
  readonly #refuse: Refuse
  readonly #settings: YamlSettings
  readonly #values: Values = new Map()
  readonly #open = new Set<Node>()
  #nodes = 0

  constructor(yaml: Yaml, document: Document.Parsed, refuse: Refuse, settings: YamlSettings) {
    this.#yaml = yaml
    this.#document = document
    this.#refuse = refuse
    this.#settings = settings
  }

  read(contents: Node): Values {
    if (this.#isNothing(contents)) return this.#values
    if (!this.#yaml.isMap(contents))
      throw this.#refuse(startOf(contents), 'this is not a map', 'write each entry as NAME: value')
    this.#readMap(contents, [])
    return this.#values
  }

  #readMap(map: YAMLMap, path: string[]): void {
    this.#refuseTag(map)
    if (this.#open.has(map)) throw this.#refuse(startOf(map), `${path.join('.')} contains itself`)
    this.#open.add(map)
    for (const pair of map.items) this.#readPair(pair as Pair<Node | null, Node | null>, path)
    this.#open.delete(map)
  }

  #readPair({ key, value }: Pair<Node | null, Node | null>, path: string[]): void {
    const at = startOf(key)
    const text = this.#yaml.isScalar(key) ? textOf(key) : ''
    if (key) this.#refuseTag(key)
    if (text === '<<') throw this.#refuse(at, 'merge keys (<<) are not read', 'write the values out')
    const name = this.#settings.nameOf([...path, text].join('_'))
    if (text === '' || name === undefined)
      throw this.#refuse(at, 'the name is not an environment variable name (letters, digits, _)')
    this.#readValue(this.#resolve(value, at), { name, path: [...path, text], at })
  }

  #readValue(value: Node | null, place: { name: string; path: string[]; at: number | undefined }): void {
    const { name, path, at } = place
    if (++this.#nodes > nodesMax) throw this.#refuse(at, `the file stands for more than ${nodesMax} values`)
    const label = path.join('.')
    if (this.#yaml.isMap(value)) {
      if (!this.#settings.flatten)
        throw this.#refuse(at, `${label} is a map`, `--flatten takes the values in it as ${name}_...`)
      this.#readMap(value, path)
      return
    }
    if (this.#yaml.isSeq(value))
      throw this.#refuse(at, `${label} is a list`, 'write it as one text in quotes, for example as JSON')
    if (!this.#yaml.isScalar(value) || this.#isNothing(value))
      throw this.#refuse(at, `${label} has no value`, 'write "" for an empty text')
    this.#refuseTag(value)
    if (this.#values.has(name)) throw this.#refuse(at, `${label} sets ${name}, which was set before`)
    this.#values.set(name, textOf(value))
  }

  #resolve(node: Node | null, at: number | undefined): Node | null {
    if (!this.#yaml.isAlias(node)) return node
    const target = node.resolve(this.#document)
    if (target === undefined) throw this.#refuse(at, mistakes.BAD_ALIAS!)
    return target
  }

  #refuseTag({ tag, range }: Node): void {
    if (tag !== undefined) throw this.#refuse(range?.[0], 'tags (!) are not read', 'put the value in quotes instead')
  }

  /** YAML reads an empty value, `~` and `null` as nothing. */
  #isNothing(node: Node): boolean {
    return this.#yaml.isScalar(node) && node.value === null && node.tag === undefined
  }
}

/** A value without quotes has the text of the file; `value` would be a number for `1.0`. */
const textOf = ({ value, source, type }: Scalar): string => (type === 'PLAIN' ? (source ?? '') : String(value))

const startOf = (node: Node | null): number | undefined => node?.range?.[0]
