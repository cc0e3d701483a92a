import { type DotenvFile, readDotenv as read } from '@skerry/sdk/dotenv'
import { parse } from 'dotenv'

/** Text of a `.env` file -> its values as the dotenv package has them, with every line named that needs the author's eye. */
export function readDotenv(text: string): DotenvFile {
  const file = read(text)
  const parsed = new Map(Object.entries(parse(text.replace(/^\ufeff/, ''))))
  const agrees = ([name, value]: [string, string]) => parsed.get(name) === value
  if (parsed.size !== file.values.size || ![...file.values].every(agrees)) {
    file.problems.push({ line: 1, message: 'the file cannot be read without doubt' })
  }
  return file
}
