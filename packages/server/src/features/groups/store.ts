import type { Group } from '@skerry/contract/groups/schemas'
import type { Static } from 'typebox'
import { ownersIn } from '../../model/environments/owners.ts'

export const groups = ownersIn<Static<typeof Group>>('groups')
