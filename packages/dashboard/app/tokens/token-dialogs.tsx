import type { Answer } from '@skerry/contract/endpoint'
import type { tokens as endpoints } from '@skerry/contract/tokens/endpoints'
import { useRouteContext } from '@tanstack/react-router'
import { api } from '../api.ts'
import { useOutlivingLeases } from '../leases/outliving.tsx'
import { HeldKeys } from '../people/held-keys.tsx'
import { endAccess, rekeyDueQuery } from '../people/rekey-due.ts'
import { tokensQuery } from '../secrets/use-name-of.ts'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { RenameDialog } from '../ui/rename-dialog.tsx'

export type Token = Answer<typeof endpoints.list>['tokens'][number]

/** The open dialog and its token. */
export interface OpenDialog {
  kind: 'rename' | 'revoke' | 'delete'
  token: Token
}

/** Renders the open dialog of a token. */
export function TokenDialog({ dialog, onClose }: { dialog: OpenDialog; onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { id, name } = dialog.token
  const leases = useOutlivingLeases(id)
  const params = { orgId: org.id, tokenId: id }
  const typed = { typed: { holder: name } }
  const stale = [tokensQuery(org.id)]
  const rename = (to: string) => api.tokens.update({ params, body: { name: to } }, typed)
  const revoke = async () => {
    await endAccess({ id, name }, () => api.tokens.revoke({ params }, typed))
    await leases.end()
  }
  const remove = () => api.tokens.delete({ params }, typed)
  if (dialog.kind === 'rename') return <RenameDialog name={name} onRename={rename} stale={stale} onClose={onClose} />
  if (dialog.kind === 'revoke')
    return (
      <ConfirmDelete
        title={`Revoke ${name}?`}
        confirm="Revoke"
        onClose={onClose}
        onConfirm={revoke}
        stale={[...stale, rekeyDueQuery(org.id), ...leases.stale]}
      >
        It stops working at once, and for good. <HeldKeys principalId={id} />
        {leases.field}
      </ConfirmDelete>
    )
  return (
    <ConfirmDelete
      title={`Delete ${name} permanently?`}
      confirm="Delete"
      onClose={onClose}
      onConfirm={remove}
      stale={stale}
    >
      This deletes the token and its grants for good. The audit log keeps its entries.
    </ConfirmDelete>
  )
}
