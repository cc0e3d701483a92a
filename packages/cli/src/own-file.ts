import { readFileSync } from 'node:fs'
import { getAsset, isSea } from 'node:sea'
import { fileURLToPath } from 'node:url'

/** Returns the path of a file in `src`. The result is the same from this file and from the built command. */
export const ownFile = (path: string): string => fileURLToPath(new URL(path, new URL('../src/', import.meta.url)))

/** Reads a file of this installation. The single executable has the files inside, by these paths. */
export const readOwnFile = (path: string): string =>
  isSea() ? getAsset(path, 'utf8') : readFileSync(ownFile(path), 'utf8')
