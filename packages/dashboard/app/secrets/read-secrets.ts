import { type DotenvFile, readDotenv } from '@skerry/sdk/dotenv'
import { readJson } from '@skerry/sdk/internal/json-values'

/** Reads a `.env` file, or a JSON object of names and text values. No line of a `.env` file begins with a brace. */
export function readSecrets(text: string): DotenvFile {
  if (!/^\s*\{/.test(text)) return readDotenv(text)
  const { values, problems, warnings } = readJson(text)
  return { values, stored: values, problems, warnings, differences: [] }
}
