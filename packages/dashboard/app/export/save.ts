import { api } from '../api.ts'

interface Picked {
  name: string
  createWritable: () => Promise<FileSystemWritableFileStream>
}
type Picker = (options: { suggestedName: string }) => Promise<Picked>

/** Only some browsers let a page write to a chosen file. Others would need the whole archive in memory. */
const picker = (): Picker | undefined => (window as { showSaveFilePicker?: Picker }).showSaveFilePicker

export const canSave = () => picker() !== undefined

/**
 * Asks for a file and writes the archive into it piece by piece. An existing file stays unchanged until the archive is
 * complete.
 *
 * @returns the file's name, or null if the person chose none.
 */
export async function saveArchive(
  { orgId, suggestedName }: { orgId: string; suggestedName: string },
  onBytes: (bytes: number) => void,
): Promise<string | null> {
  const file = await picker()?.({ suggestedName }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') return null
    throw error
  })
  if (!file) return null
  const writable = await file.createWritable()
  try {
    const pieces = await api.stream('exporting', 'create', { params: { orgId }, body: {} })
    let bytes = 0
    for await (const piece of pieces) {
      await writable.write(piece as Uint8Array<ArrayBuffer>)
      bytes += piece.length
      onBytes(bytes)
    }
    await writable.close()
  } catch (error) {
    await writable.abort()
    throw error
  }
  return file.name
}
