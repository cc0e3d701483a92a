import { fileURLToPath } from 'node:url'

/** The path of a file of `src`, by its path there: the same from this file as from those that it is built into. */
export const ownFile = (path: string): string => fileURLToPath(new URL(path, new URL('../src/', import.meta.url)))
