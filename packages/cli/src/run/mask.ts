import { createWriteStream } from 'node:fs'
import type { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { redaction, redactStream } from '@skerry/providers/redaction/redactor'
import { maskedValue } from '../output.ts'

/** Shorter values are words like `on` and `8080`, which would be cut out of everything. */
const shortestMasked = 4

/** Copies what a program prints to a descriptor of this process, with the values in it masked. */
export async function copyMasked(from: Readable, descriptor: number, values: Iterable<string>): Promise<void> {
  // Not `process.stdout`, which would make a pipe non-blocking for everyone who shares it.
  const to = createWriteStream('', { fd: descriptor, autoClose: false })
  // The reader has gone: closing the pipe tells the program so.
  await pipeline(from, maskStream(values), to).catch(() => {})
}

/**
 * A program that prompts waits for an answer, so what was held back is shown after this long. A value that is printed in parts,
 * with longer pauses, is not found.
 */
const pauseMs = 500

/**
 * Replaces values by asterisks, with the search that the agents' proxy uses. A line of a value of several lines counts as a value,
 * because programs print them one by one.
 */
function maskStream(values: Iterable<string>): Transform {
  const wanted = new Set([...values].flatMap((value) => [value, ...value.split('\n')]))
  const secrets = [...wanted].map((value) => ({ name: '', value }))
  const redact = redaction(secrets, { placeholder: maskedValue, minBytes: shortestMasked })
  return redactStream(redact(), pauseMs)
}
