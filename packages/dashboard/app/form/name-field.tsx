import { TextInput, type TextInputProps } from '@mantine/core'

/**
 * A field for a name, used first in a dialog.
 *
 * @example <NameField description="Where it is used." placeholder="backend" {...form.getInputProps('name')} />
 */
export const NameField = (props: TextInputProps) => (
  <TextInput label="Name" autoComplete="off" data-autofocus {...props} />
)
