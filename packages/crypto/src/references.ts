import { CryptoError } from './errors.ts'

/** The most UTF-8 bytes that a value may have once its references are expanded. Published clients refuse the same. */
export const expandedValueLimitBytes = 1_048_576

/** The values with their references expanded, and the referenced names that do not exist. */
export interface ExpandedReferences {
  /** Has no prototype, so that a secret may be called `__proto__`. */
  values: Record<string, string>
  /** Sorted, each once. */
  unresolved: string[]
}

/** The result of an expansion in which some names may fail. */
export interface ExpandedEach extends ExpandedReferences {
  /**
   * The names that cannot be expanded, each with the reason: a cycle, a reference into one, or a value that is too
   * large. They have no value.
   */
  failed: Map<string, CryptoError>
}

/** A value split at its references: literal text, or the name of the value to insert. */
type Part = { text: string } | { name: string }

interface Expanded {
  text: string
  lengthBytes: number
}

/** A value during expansion. `next` is the index of its first part that is not yet in `text`. */
interface Frame extends Expanded {
  name: string
  parts: Part[]
  next: number
}

/** `$${` or `${NAME}`. Any other text after a `$` does not match and stays as written. */
const referencePattern = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

/**
 * Expands `${NAME}` in every value, with the values of the merged set itself.
 *
 * - `${NAME}` becomes the expanded value of NAME; `$${` becomes the text `${`, whatever follows it.
 * - An unknown name stays as written and is reported.
 * - Anything else that starts with `$` stays as written: `${NAME:-x}`, `${1}`, `${}`, `$NAME`, an open `${`.
 * - Expanded text is not scanned again.
 *
 * @param names the names to expand; all by default. They may refer to any value.
 * @throws CryptoError `reference_cycle`, with the chain `A -> B -> A` in `subject`; `reference_too_large` when a value
 *   would exceed {@link expandedValueLimitBytes}, with its name in `subject`.
 * @example expandReferences({ HOST: 'db', URL: 'postgres://${HOST}' }).values.URL // 'postgres://db'
 */
export function expandReferences(values: Record<string, string>, names?: readonly string[]): ExpandedReferences {
  const { failed, ...expanded } = expandEach(values, names)
  for (const error of failed.values()) throw error
  return expanded
}

/**
 * Expands what can be expanded. A cycle affects only the names in it and the names that lead into it.
 *
 * @param names as for {@link expandReferences}. A name without a value is ignored.
 * @example expandEach({ A: '${A}', B: 'b' }) // values: { B: 'b' }; failed: A -> `reference_cycle`
 */
export function expandEach(values: Record<string, string>, names?: readonly string[]): ExpandedEach {
  const stored = new Map(Object.entries(values))
  const wanted = names?.filter((name) => stored.has(name)) ?? [...stored.keys()]
  const state: State = { stored, done: new Map(), failed: new Map(), unresolved: new Set() }
  const expanded: Record<string, string> = Object.create(null)
  const failed = new Map<string, CryptoError>()
  for (const name of wanted) {
    expandOne(name, state)
    const text = state.done.get(name)?.text
    if (text === undefined) failed.set(name, state.failed.get(name)!)
    else expanded[name] = text
  }
  return { values: expanded, unresolved: [...state.unresolved].sort(), failed }
}

/** Returns the names that a text refers to, each once, in order. Escaped references do not count. */
export function referencesIn(text: string): string[] {
  return [...new Set([...text.matchAll(referencePattern)].flatMap(([, name]) => name ?? []))]
}

/**
 * Escapes a text so that it expands to exactly this text. It escapes references, and text that is already an escape.
 *
 * @example escapeReferences('${HOME} $$ $HOME') // '$${HOME} $$ $HOME'
 */
export function escapeReferences(text: string): string {
  return text.replace(/\$\$\{|\$\{(?=[A-Za-z_][A-Za-z0-9_]*\})/g, (opener) => `$${opener}`)
}

interface State {
  stored: ReadonlyMap<string, string>
  done: Map<string, Expanded>
  failed: Map<string, CryptoError>
  unresolved: Set<string>
}

/** Expands depth first with its own stack, because a chain of references may be longer than the call stack is deep. */
function expandOne(root: string, { stored, done, failed, unresolved }: State): void {
  const stack: Frame[] = []
  const open = new Set<string>()
  const enter = (name: string) => {
    open.add(name)
    stack.push({ name, parts: parse(stored.get(name)!, stored, unresolved), next: 0, text: '', lengthBytes: 0 })
  }
  // Every open name depends on the name that failed.
  const fail = (error: CryptoError) => {
    for (const name of open) failed.set(name, error)
    stack.length = 0
  }
  if (!done.has(root) && !failed.has(root)) enter(root)
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    const part = frame.parts[frame.next]
    if (part === undefined) {
      done.set(frame.name, { text: frame.text, lengthBytes: frame.lengthBytes })
      open.delete(frame.name)
      stack.pop()
      continue
    }
    const piece = 'text' in part ? { text: part.text, lengthBytes: utf8Length(part.text) } : done.get(part.name)
    if (piece !== undefined) {
      if (!append(frame, piece)) fail(new CryptoError('reference_too_large', undefined, frame.name))
    } else if ('name' in part) {
      if (failed.has(part.name)) fail(failed.get(part.name)!)
      else if (open.has(part.name)) fail(cycle([...open], part.name))
      else enter(part.name)
    }
  }
}

function parse(value: string, stored: ReadonlyMap<string, string>, unresolved: Set<string>): Part[] {
  const parts: Part[] = []
  let from = 0
  for (const match of value.matchAll(referencePattern)) {
    const name = match[1]
    if (name === undefined) {
      parts.push({ text: value.slice(from, match.index) })
      from = match.index + 1
    } else if (stored.has(name)) {
      parts.push({ text: value.slice(from, match.index) }, { name })
      from = match.index + match[0].length
    } else {
      unresolved.add(name)
    }
  }
  parts.push({ text: value.slice(from) })
  return parts
}

/**
 * Appends a piece, or returns false if the value would exceed the limit. The length is checked before the text is
 * joined, so that nested doubling is never built.
 */
function append(frame: Frame, piece: Expanded): boolean {
  frame.lengthBytes += piece.lengthBytes
  if (frame.lengthBytes > expandedValueLimitBytes) return false
  frame.text += piece.text
  frame.next++
  return true
}

/**
 * Builds the error for a cycle. A set keeps its order of entry, so `open` is the path. Names that lead into the cycle
 * are not part of it.
 */
function cycle(open: string[], name: string): CryptoError {
  return new CryptoError('reference_cycle', undefined, [...open.slice(open.indexOf(name)), name].join(' -> '))
}

/**
 * Counts the UTF-8 bytes of a text without encoding it. A unit below 0x80 takes 1, below 0x800 2, half a surrogate pair
 * 2.
 */
function utf8Length(text: string): number {
  let length = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) length += 1
    else if (unit < 0x800 || (unit >= 0xd800 && unit < 0xe000)) length += 2
    else length += 3
  }
  return length
}
