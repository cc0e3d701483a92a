import type { Application } from '@skerry/contract/apps/schemas'
import type { Static } from 'typebox'
import { ownersIn } from '../../model/environments/owners.ts'

export const applications = ownersIn<Static<typeof Application>>('applications')
