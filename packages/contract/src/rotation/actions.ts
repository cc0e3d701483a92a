import type { ActionRow } from '../action.ts'

export const actions = {
  'rotation.created': { about: 'rotation', evicts: 'none', group: 'automation', label: 'Rotation configured' },
  'rotation.updated': { about: 'rotation', evicts: 'none', group: 'automation', label: 'Rotation changed' },
  'rotation.deleted': { about: 'rotation', evicts: 'none', group: 'automation', label: 'Rotation removed' },
  'rotation.completed': { about: 'rotation', evicts: 'none', group: 'automation', label: 'Secret rotated' },
  'rotation.failed': { about: 'rotation', evicts: 'none', group: 'automation', label: 'Rotation failed' },
} as const satisfies Record<string, ActionRow>
