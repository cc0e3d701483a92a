import { auditProof } from '@skerry/contract/audit-proof/endpoints'
import { open } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { admin, unbound } from '../orgs/scope.ts'
import { checkpoint, consistency, exportKey, inclusion, leaves } from './audit-proof.ts'

export const routes = [
  route(auditProof.checkpoint, unbound(admin), checkpoint),
  route(auditProof.inclusion, unbound(admin), inclusion, { heavy: 'search' }),
  route(auditProof.consistency, unbound(admin), consistency, { heavy: 'search' }),
  route(auditProof.leaves, unbound(admin), leaves, { heavy: 'search' }),
  route(auditProof.exportKey, open('the answer is a public key'), exportKey),
]
