import { secrets } from '@skerry/contract/secrets'
import { env, grantee, granteeOrMachine, member } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import { list, put, remove, restore, versions } from './secrets.ts'
import { putTogether } from './together.ts'

export const routes = [
  on(secrets.list, grantee(env(member)), list),
  on(secrets.put, grantee(env(member)), put, { together: putTogether }),
  on(secrets.versions, grantee(env(member)), versions),
  on(secrets.restore, granteeOrMachine(env(member)), restore), // replays what is stored, so it needs no key
  on(secrets.delete, granteeOrMachine(env(member)), remove),
]
