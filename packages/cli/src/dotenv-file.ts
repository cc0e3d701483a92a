import { type DotenvFile, readDotenv as read, renamed } from '@skerry/sdk/dotenv'
import { parse } from 'dotenv'

/** Text of a `.env` file -> its values as the dotenv package has them, with every line named that needs the author's eye. */
export function readDotenv(text: string, settings: { rename?: boolean } = {}): DotenvFile {
  const file = read(text, settings)
  const entries = Object.entries(parse(text.replace(/^\ufeff/, '')))
  const parsed = new Map(entries.map(([name, value]) => [settings.rename ? renamed(name) : name, value]))
  // The package writes into an ordinary object, which takes no text as its `__proto__`: there is nothing to compare.
  const compared = [...file.values].filter(([name]) => name !== '__proto__')
  if (parsed.size !== compared.length || !compared.every(([name, value]) => parsed.get(name) === value)) {
    file.problems.push({ line: 1, message: 'the file cannot be read without doubt' })
  }
  return file
}
