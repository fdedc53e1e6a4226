/** The RPC types of the metadata service of Apache Doris' cloud mode, as its `ms_rpc_qps_*` options name them. */
export const DORIS_META_SERVICE_RPCS: readonly string[] = [
  'get_tablet_meta',
  'get_rowset',
  'prepare_rowset',
  'commit_rowset',
  'update_tmp_rowset',
  'commit_txn',
  'abort_txn',
  'precommit_txn',
  'get_obj_store_info',
  'start_tablet_job',
  'finish_tablet_job',
  'get_delete_bitmap',
  'update_delete_bitmap',
  'get_delete_bitmap_update_lock',
  'remove_delete_bitmap_update_lock',
  'get_instance',
  'prepare_restore_job',
  'commit_restore_job',
  'finish_restore_job',
  'list_snapshots',
  'update_packed_file_info',
];

/** Those that loading data calls per table: the ones that table-level backpressure slows. */
export const DORIS_LOAD_RELATED_RPCS: readonly string[] = [
  'prepare_rowset',
  'commit_rowset',
  'update_tmp_rowset',
  'update_packed_file_info',
  'update_delete_bitmap',
];
