import { fileURLToPath } from 'node:url'

/** Returns the path of a file in `src`. The result is the same from this file and from the built command. */
export const ownFile = (path: string): string => fileURLToPath(new URL(path, new URL('../src/', import.meta.url)))
