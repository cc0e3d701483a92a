import { passkeys } from '@skerry/contract/passkeys'
import { person } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import { create, list, remove } from './passkeys.ts'

export const routes = [
  on(passkeys.list, person, list),
  on(passkeys.create, person, create),
  on(passkeys.delete, person, remove),
]
