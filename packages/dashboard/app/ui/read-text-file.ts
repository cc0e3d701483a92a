/** Larger files are no secrets, and reading one would stop the page. */
const bytesMax = 5 * 1024 * 1024

type TextFile = { text: string } | { problem: string }

/** Reads a file of secrets that was dropped or chosen, in this page. Returns its text, or why it cannot be used. */
export async function readSecretsFile(file: File): Promise<TextFile> {
  if (/\.ya?ml$/i.test(file.name))
    return { problem: 'This page reads .env and JSON files. Import YAML with `skerry secrets import`.' }
  return readTextFile(file)
}

/** Reads a text file of any kind. Returns its text with a byte order mark, if it has one, or why it cannot be used. */
export async function readTextFile(file: File): Promise<TextFile> {
  if (file.size > bytesMax) return { problem: 'The file is larger than 5 MB. Choose a smaller file.' }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await file.arrayBuffer())
    return text.includes('\0') ? noText : { text }
  } catch (error) {
    // The decoder throws a TypeError. A folder, or a file that was moved meanwhile, throws a DOMException.
    return error instanceof TypeError ? noText : { problem: 'The file cannot be read. Choose a text file.' }
  }
}

const noText = { problem: 'The file is not UTF-8 text. Choose a text file, or save yours as UTF-8.' }
