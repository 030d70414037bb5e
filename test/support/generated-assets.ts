export { generatedId, generatedRecord, isMissing } from '../../src/service/generated/generated-assets.ts';
