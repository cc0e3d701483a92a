import { type DotenvFile, readDotenv as read, renamed } from '@skerry/sdk/dotenv'
import { parse } from 'dotenv'

/** Reads a `.env` file as the dotenv package does, and reports every line that its author should check. */
export function readDotenv(text: string, settings: { rename?: boolean } = {}): DotenvFile {
  const file = read(text, settings)
  const entries = Object.entries(parse(text.replace(/^\ufeff/, '')))
  const parsed = new Map(entries.map(([name, value]) => [settings.rename ? renamed(name) : name, value]))
  // The package writes into an ordinary object, which ignores a text as its `__proto__`, so there is nothing to
  // compare.
  const compared = [...file.values].filter(([name]) => name !== '__proto__')
  if (parsed.size !== compared.length || !compared.every(([name, value]) => parsed.get(name) === value)) {
    file.problems.push({ line: 1, message: 'the file is ambiguous: programs would read it in different ways' })
  }
  return file
}
