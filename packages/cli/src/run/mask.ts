import { createWriteStream } from 'node:fs'
import type { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { redaction, redactStream } from '@skerry/providers/redaction/redactor'
import { maskedValue } from '../output.ts'

/** Shorter values are not masked, because a word like `on` would be replaced in every line. */
const shortestMasked = 4

/** Copies the output of a program to a descriptor of this process and masks the values in it. */
export async function copyMasked(from: Readable, descriptor: number, values: Iterable<string>): Promise<void> {
  // Not `process.stdout`, which would make a pipe non-blocking for every process that shares it.
  const to = createWriteStream('', { fd: descriptor, autoClose: false })
  // If the reader of the output has ended, the closed pipe tells the program.
  await pipeline(from, maskStream(values), to).catch(() => {})
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
function maskStream(values: Iterable<string>): Transform {
  const wanted = new Set([...values].flatMap((value) => [value, ...value.split('\n')]))
  const secrets = [...wanted].map((value) => ({ name: '', value }))
  const redact = redaction(secrets, { placeholder: maskedValue, minBytes: shortestMasked })
  return redactStream(redact(), pauseMs)
}
