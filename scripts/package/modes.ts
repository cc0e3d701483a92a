import { chmodSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'

/** Sets the mode of each file and folder, so that it does not depend on the umask of the checkout or of the build. */
export function setModes(folder: string, executables: readonly string[]): void {
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    chmodSync(path, entry.isDirectory() || executables.includes(relative(folder, path)) ? 0o755 : 0o644)
  }
}
