import type { Descriptor } from '../descriptor.ts'

export const feature: Descriptor = {}
