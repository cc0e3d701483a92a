import { passkeys } from '@skerry/contract/passkeys/endpoints'
import { person } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { create, list, remove } from './passkeys.ts'

export const routes = [
  route(passkeys.list, person, list),
  route(passkeys.create, person, create),
  route(passkeys.delete, person, remove),
]
