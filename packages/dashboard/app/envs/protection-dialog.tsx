import { Checkbox, NumberInput } from '@mantine/core'
import { limits } from '@skerry/contract/limits'
import { useApiForm } from '../form/use-api-form.ts'
import { FormDialog } from '../ui/form-dialog.tsx'

export interface ProtectionSettings {
  requiredApprovals: number
  allowSelfApproval: boolean
}

/** Sets how an environment is protected. */
export function ProtectionDialog(props: {
  name: string
  before: ProtectionSettings
  onSave: (settings: ProtectionSettings) => Promise<unknown>
  onClose: () => void
}) {
  const { name, before, onSave, onClose } = props
  const form = useApiForm('protection', 'put', { ...before })
  return (
    <FormDialog title={`Protect ${name}`} submit="Save" form={form} onClose={onClose} onSubmit={onSave}>
      <NumberInput
        label="Approvals that a change needs"
        min={1}
        max={limits.requiredApprovalsMax}
        allowDecimal={false}
        clampBehavior="strict"
        data-autofocus
        {...form.getInputProps('requiredApprovals')}
      />
      <Checkbox
        label="One’s own approval counts"
        description="Only of owners and admins: they alone approve."
        {...form.getInputProps('allowSelfApproval', { type: 'checkbox' })}
      />
    </FormDialog>
  )
}
