import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'

export const sha256Of = (path: string): string => hash('sha256', readFileSync(path))
