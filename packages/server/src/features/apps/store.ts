import type { Application } from '@skerry/contract/apps'
import type { Static } from 'typebox'
import { ownersIn } from '../envs/owners.ts'

export const applications = ownersIn<Static<typeof Application>>('applications')
