import { createWriteStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Redaction, redaction, redactStream } from '@skerry/providers/redaction/redactor'
import { maskedValue, note } from '../output.ts'
import type { Masking } from './masking.ts'

/** Shorter values are not masked, because a word like `on` would be replaced in every line. */
const shortestMasked = 4

/**
 * Copies the output of a program to the same descriptors of this process and masks the values in it. The streams that
 * the program inherited are null.
 */
export async function copyMasked(streams: (Readable | null)[], { values, isDefault }: Masking): Promise<void> {
  const redact = maskOf(values.values())
  const counts = await Promise.all(streams.map((from, at) => (from ? copy(from, at + 1, redact) : 0)))
  if (isDefault && counts.some((count) => count > 0))
    note(`values in the output were replaced with ${maskedValue}, because CI is set; --no-mask shows them`)
}

/** Returns how many values were masked. */
async function copy(from: Readable, descriptor: number, redact: Redaction): Promise<number> {
  const redactor = redact()
  // Not `process.stdout`, which would make a pipe non-blocking for every process that shares it.
  const to = createWriteStream('', { fd: descriptor, autoClose: false })
  // If the reader of the output has ended, the closed pipe tells the program.
  await pipeline(from, redactStream(redactor, pauseMs), to).catch(() => {})
  return redactor.counts.get('') ?? 0
}

/**
 * Withheld output is written after this pause, because it may be a prompt that waits for an answer. A value that is
 * printed in parts with longer pauses is not found.
 */
const pauseMs = 500

/**
 * Replaces values with asterisks, with the search of the agents' proxy. Each line of a value with several lines counts
 * as a value, because programs print such values line by line.
 */
function maskOf(values: Iterable<string>): Redaction {
  const wanted = new Set([...values].flatMap((value) => [value, ...value.split('\n')]))
  const secrets = [...wanted].map((value) => ({ name: '', value }))
  return redaction(secrets, { placeholder: maskedValue, minBytes: shortestMasked })
}
