import { TextInput } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { showToast } from '../ui/toast.ts'
import { billingQuery } from './queries.ts'

export type PlanDialogKind = 'promo' | 'cancel'

export function PlanDialog({ kind, onClose }: { kind: PlanDialogKind; onClose: () => void }) {
  return kind === 'promo' ? <PromoDialog onClose={onClose} /> : <CancelDialog onClose={onClose} />
}

function PromoDialog({ onClose }: { onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const [code, setCode] = useState('')
  const redeem = async () => {
    await api.billing.promo({ params: { orgId: org.id }, body: { code: code.trim() } })
    showToast('The code is redeemed.')
  }
  return (
    <FormDialog
      title="Redeem a code"
      submit="Redeem"
      onClose={onClose}
      onSubmit={redeem}
      stale={[billingQuery(org.id)]}
      disabled={code.trim() === ''}
    >
      <TextInput
        label="Code"
        autoComplete="off"
        maxLength={64}
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
        data-autofocus
      />
    </FormDialog>
  )
}

function CancelDialog({ onClose }: { onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  return (
    <ConfirmDelete
      title="Cancel the plan?"
      confirm="Cancel the plan"
      decline="Keep the plan"
      typed={org.slug}
      onClose={onClose}
      onConfirm={() => api.billing.cancel({ params: { orgId: org.id } })}
      stale={[billingQuery(org.id)]}
    >
      You go back to the free plans at once, also from a plan that a code gave you. No deleted secret. If this server
      enforces limits, you cannot add more where you are above a limit.
    </ConfirmDelete>
  )
}
