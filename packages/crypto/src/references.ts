import { CryptoError } from './errors.ts'

/** The most UTF-8 bytes that a value may have once its references are expanded. Published clients refuse the same. */
export const expandedValueLimitBytes = 1_048_576

/** The values with their references expanded, and the names that were referenced but are not there. */
export interface ExpandedReferences {
  /** Has no prototype, so that a secret may be called `__proto__`. */
  values: Record<string, string>
  /** Sorted, each once. */
  unresolved: string[]
}

/** A value cut at its references: literal text, or the name whose expanded value stands here. */
type Part = { text: string } | { name: string }

interface Expanded {
  text: string
  lengthBytes: number
}

/** A value under expansion; `next` is its first part that is not yet in `text`. */
interface Frame extends Expanded {
  name: string
  parts: Part[]
  next: number
}

/** `$${NAME}` or `${NAME}`. Whatever else follows a `$` matches nowhere and stays as written. */
const referencePattern = /\$?\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

/**
 * Expands `${NAME}` in every value, from the merged set itself.
 *
 * - `${NAME}` becomes the expanded value of NAME; `$${NAME}` becomes the text `${NAME}`.
 * - An unknown name stays as written and is reported.
 * - Anything else that starts with `$` stays as written: `${NAME:-x}`, `${1}`, `${}`, `$NAME`, an open `${`.
 * - Expanded text is not scanned again.
 *
 * @throws CryptoError `reference_cycle`, with the chain `A -> B -> A` in `subject`; `reference_too_large` when a value
 *   would pass {@link expandedValueLimitBytes}, with its name in `subject`.
 * @example expandReferences({ HOST: 'db', URL: 'postgres://${HOST}' }).values.URL // 'postgres://db'
 */
export function expandReferences(values: Record<string, string>): ExpandedReferences {
  const stored = new Map(Object.entries(values))
  const unresolved = new Set<string>()
  const done = new Map<string, Expanded>()
  for (const name of stored.keys()) expandOne(name, stored, done, unresolved)

  const expanded: Record<string, string> = Object.create(null)
  for (const name of stored.keys()) expanded[name] = done.get(name)!.text
  return { values: expanded, unresolved: [...unresolved].sort() }
}

/** Depth first with a stack of its own: a chain of references may be longer than the call stack is deep. */
function expandOne(
  root: string,
  stored: ReadonlyMap<string, string>,
  done: Map<string, Expanded>,
  unresolved: Set<string>,
): void {
  const stack: Frame[] = []
  const open = new Set<string>()
  const enter = (name: string) => {
    open.add(name)
    stack.push({ name, parts: parse(stored.get(name)!, stored, unresolved), next: 0, text: '', lengthBytes: 0 })
  }
  if (!done.has(root)) enter(root)
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    const part = frame.parts[frame.next]
    if (part === undefined) {
      done.set(frame.name, { text: frame.text, lengthBytes: frame.lengthBytes })
      open.delete(frame.name)
      stack.pop()
    } else if ('text' in part) {
      append(frame, { text: part.text, lengthBytes: utf8Length(part.text) })
    } else {
      const known = done.get(part.name)
      if (known) append(frame, known)
      else if (open.has(part.name)) throw cycle([...open], part.name)
      else enter(part.name)
    }
  }
}

function parse(value: string, stored: ReadonlyMap<string, string>, unresolved: Set<string>): Part[] {
  const parts: Part[] = []
  let from = 0
  for (const match of value.matchAll(referencePattern)) {
    const name = match[1]!
    const escaped = match[0].startsWith('$$')
    if (!escaped && !stored.has(name)) unresolved.add(name)
    if (!escaped && stored.has(name)) {
      parts.push({ text: value.slice(from, match.index) }, { name })
      from = match.index + match[0].length
    } else if (escaped) {
      parts.push({ text: value.slice(from, match.index) })
      from = match.index + 1
    }
  }
  parts.push({ text: value.slice(from) })
  return parts
}

/** The length is known before the text is joined, so that nested doubling stops at the limit and never gets built. */
function append(frame: Frame, piece: Expanded): void {
  frame.lengthBytes += piece.lengthBytes
  if (frame.lengthBytes > expandedValueLimitBytes) throw new CryptoError('reference_too_large', undefined, frame.name)
  frame.text += piece.text
  frame.next++
}

/** A set keeps its order of entry, so `open` is the path; what leads into the cycle is no part of it. */
function cycle(open: string[], name: string): CryptoError {
  return new CryptoError('reference_cycle', undefined, [...open.slice(open.indexOf(name)), name].join(' -> '))
}

/** UTF-8 bytes of a text, without encoding it: a unit below 0x80 takes 1, below 0x800 2, half a surrogate pair 2. */
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
