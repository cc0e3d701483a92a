import { secretNamePattern } from '@skerry/contract/patterns'
import type { DotenvFile } from './dotenv.ts'
import { lineCounter } from './line-counter.ts'

/** The content of a JSON file of secrets, with remarks for its author. Remarks contain no value. */
type JsonFile = Pick<DotenvFile, 'values' | 'problems' | 'warnings'>

/**
 * Reads a JSON object of names and text values. `JSON.parse` alone would name no line, and its messages quote the text.
 * Numbers and booleans are refused, because `1.0` and `1` would become the same value. Accepts any text: errors are in
 * `problems`.
 */
export function readJson(text: string): JsonFile {
  return new Reader(text.replace(/^\ufeff/, '')).read()
}

const blank = '[ \\t\\r\\n]*'
const string = String.raw`"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\u0000-\u001f]*)*"`

/** A name and its value: a string, the beginning of an object or a list, or a word such as `5` or `true`. */
const entryPattern = new RegExp(`(${string})${blank}:${blank}(?:(${string})|([{[])|[-\\w.+]+)`, 'y')
const blankPattern = new RegExp(blank, 'y')
const secretName = new RegExp(secretNamePattern)

class Reader {
  readonly #text: string
  readonly #lineOf: (at: number) => number
  readonly #file: JsonFile = { values: new Map(), problems: [], warnings: [] }
  readonly #firstSeen = new Map<string, number>()
  #at = 0

  constructor(text: string) {
    this.#text = text
    this.#lineOf = lineCounter(text)
  }

  read(): JsonFile {
    this.#skipBlank()
    if (!this.#take('{')) this.#refuse('the text is not a JSON object of names and text values')
    else if (this.#readEntries() && this.#at < this.#text.length)
      this.#refuse('text follows the end of the JSON object')
    return this.#file
  }

  /** Reads all entries and the last brace. Returns false if the rest cannot be read. */
  #readEntries(): boolean {
    if (this.#take('}')) return true
    while (this.#readEntry()) {
      if (this.#take('}')) return true
      if (this.#take(',')) continue
      this.#refuse('a comma or } is missing')
      return false
    }
    return false
  }

  #readEntry(): boolean {
    entryPattern.lastIndex = this.#at
    const [, quotedName, quotedValue, opening] = entryPattern.exec(this.#text) ?? []
    if (quotedName === undefined) {
      this.#refuse('this is not "NAME": "value"')
      return false
    }
    const name: string = JSON.parse(quotedName)
    const isName = secretName.test(name)
    // A name that is not valid may be a value in the wrong place.
    const label = isName ? name : 'this entry'
    if (!isName) this.#refuse('the name is not valid: use letters, digits and _, not starting with a digit')
    if (quotedValue === undefined) this.#refuse(`the value of ${label} is not a text: put it in quotes`)
    else this.#file.values.set(name, JSON.parse(quotedValue))
    this.#noteRepeated(name, label)
    this.#at = entryPattern.lastIndex
    this.#skipBlank()
    return opening === undefined
  }

  #noteRepeated(name: string, label: string): void {
    const line = this.#lineOf(this.#at)
    const earlier = this.#firstSeen.get(name)
    if (earlier === undefined) this.#firstSeen.set(name, line)
    else
      this.#file.warnings.push({ line, message: `${label} is also on line ${earlier}; the value on this line is used` })
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    this.#skipBlank()
    return true
  }

  #skipBlank(): void {
    blankPattern.lastIndex = this.#at
    blankPattern.test(this.#text)
    this.#at = blankPattern.lastIndex
  }

  #refuse(message: string): void {
    this.#file.problems.push({ line: this.#lineOf(this.#at), message })
  }
}
