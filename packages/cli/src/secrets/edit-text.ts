import type { LineRemark } from '@skerry/sdk/dotenv'
import { formatDotenv } from '@skerry/sdk/internal/dotenv-format'
import { readDotenv } from '../dotenv-file.ts'
import type { Values } from '../formats/names.ts'

/** The text that an editor shows, and the names whose values a `.env` file cannot hold. */
interface EditText {
  text: string
  leftOut: string[]
}

/** Writes the stored texts of an environment as a `.env` file that reads back exactly. */
export function writeEditText(values: Values, label: string): EditText {
  const { text, impossible } = formatDotenv(values, true)
  const head = [
    `${label}: save and close to go on, close without a change to stop.`,
    'Delete a line to delete the secret. ${NAME} is a reference; in single quotes it is text.',
    ...(impossible.length > 0
      ? [`Not shown, because a .env file cannot hold the value: ${impossible.join(', ')}`]
      : []),
  ]
  return { text: `${head.map((line) => `# ${line}\n`).join('')}\n${text}`, leftOut: impossible }
}

/**
 * Reads the edited text. A mistake is a line that means nothing, a name that is set twice, or a value that a # cuts off.
 */
export function readEditText(bytes: Uint8Array): { values: Values; mistakes: LineRemark[] } {
  const text = decode(bytes)
  if (text === undefined) return { values: new Map(), mistakes: [{ line: 1, message: 'the file is not UTF-8 text' }] }
  const { stored, problems, warnings } = readDotenv(text)
  const mistakes = [...problems, ...warnings].sort((a, b) => a.line - b.line)
  return { values: stored, mistakes }
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
