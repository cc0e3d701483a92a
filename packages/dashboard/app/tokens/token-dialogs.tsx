import type { Answer } from '@skerry/contract/endpoint'
import type { tokens as endpoints } from '@skerry/contract/tokens/endpoints'
import { useRouteContext } from '@tanstack/react-router'
import { api } from '../api.ts'
import { useOutlivingLeases } from '../leases/outliving.tsx'
import { HeldKeys } from '../people/held-keys.tsx'
import { endAccess } from '../people/rekey-due.ts'
import { invalidate } from '../queries.ts'
import { tokensQuery } from '../secrets/use-name-of.ts'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { RenameDialog } from '../ui/rename-dialog.tsx'

export type Token = Answer<typeof endpoints.list>['tokens'][number]

/** The dialog that is open, and for which token. */
export interface OpenDialog {
  kind: 'rename' | 'revoke' | 'delete'
  token: Token
}

/** The dialog of a token that is open. */
export function TokenDialog({ dialog, onClose }: { dialog: OpenDialog; onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { id, name } = dialog.token
  const leases = useOutlivingLeases(id)
  const params = { orgId: org.id, tokenId: id }
  const reload = () => invalidate(tokensQuery(org.id))
  const rename = async (to: string) => {
    await api.tokens.update({ params, body: { name: to } })
    await reload()
  }
  const revoke = async () => {
    await endAccess(org.id, { id, name }, () => api.tokens.revoke({ params }))
    await leases.end()
    await reload()
  }
  const remove = async () => {
    await api.tokens.delete({ params })
    await reload()
  }
  if (dialog.kind === 'rename') return <RenameDialog name={name} onRename={rename} onClose={onClose} />
  if (dialog.kind === 'revoke')
    return (
      <ConfirmDelete title={`Revoke ${name}?`} confirm="Revoke" onClose={onClose} onConfirm={revoke}>
        Its next request is refused, and it can never be used again. <HeldKeys principalId={id} />
        {leases.field}
      </ConfirmDelete>
    )
  return (
    <ConfirmDelete title={`Delete ${name} permanently?`} confirm="Delete" onClose={onClose} onConfirm={remove}>
      The token and the keys that were wrapped to it go for good. The audit log keeps what it did.
    </ConfirmDelete>
  )
}
