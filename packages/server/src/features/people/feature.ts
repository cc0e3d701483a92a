import type { Descriptor } from '../descriptor.ts'

export const feature: Descriptor = {
  archive: { nothing: 'stores nothing of its own' },
}
